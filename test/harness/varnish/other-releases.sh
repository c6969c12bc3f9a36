#!/bin/sh
# Fetches the Varnish of another Debian release and unpacks it into a folder, with programs in its bin/ that run it, so that
# the tests of the console on a Varnish can be played with it. Nothing is installed. Needs curl, xz, dpkg and gcc.
#   test/harness/varnish/other-releases.sh bullseye /tmp/varnish-6.5     6.5.1
#   test/harness/varnish/other-releases.sh trixie /tmp/varnish-7.7       7.7.0
#   PATH=/tmp/varnish-6.5/bin:$PATH npx vitest run --config test/vitest.config.ts --project system test/system/varnish
set -eu
[ $# -eq 2 ] || { sed -n '2,7s/^# *//p' "$0"; exit 1; }
suite="$1"
to="$2"
mirror=http://deb.debian.org/debian
mkdir -p "$to/root" "$to/bin"
curl -sSf "$mirror/dists/$suite/main/binary-amd64/Packages.xz" | xz -dc >"$to/packages"

# Each release has only some of these.
unpack() { # unpack PACKAGE…
  for package; do
    file=$(awk -v RS= -v p="$package" '$0 ~ "^Package: " p "\n"' "$to/packages" | sed -n 's/^Filename: //p' | head -n 1)
    [ -n "$file" ] || continue
    curl -sSf -o "$to/package.deb" "$mirror/$file"
    dpkg -x "$to/package.deb" "$to/root"
    rm "$to/package.deb"
  done
}

unpack varnish libvarnishapi2 libvarnishapi3 libjemalloc2 libpcre3 libpcre2-8-0 libedit2 libbsd0 libmd0 libtinfo6 \
  libncursesw6 libncurses6 libunwind8 liblzma5
libraries="$to/root/usr/lib/x86_64-linux-gnu:$to/root/lib/x86_64-linux-gnu:$to/root/usr/lib/varnish"
run="LD_LIBRARY_PATH='$libraries'"
if ! LD_LIBRARY_PATH="$libraries" "$to/root/usr/sbin/varnishd" -V >/dev/null 2>&1; then
  # It is for a newer C library than this machine's: it gets its own.
  unpack libc6 libgcc-s1
  run="'$(find "$to/root" -name ld-linux-x86-64.so.2 | head -n 1)' --library-path '$libraries'"
fi
modules=$(find "$to/root" -type d -name vmods | head -n 1)
for program in varnishd varnishadm varnishlog varnishncsa varnishstat; do
  file=$(find "$to/root/usr" -name "$program" -type f -path '*bin*')
  {
    echo '#!/bin/sh'
    [ $program != varnishd ] || echo "case \"\$1\" in -V) ;; *) set -- -p 'vmod_path=$modules' \"\$@\";; esac"
    echo "exec env $run '$file' \"\$@\""
  } >"$to/bin/$program"
  chmod +x "$to/bin/$program"
done
rm "$to/packages"
"$to/bin/varnishd" -V 2>&1 | head -n 1
