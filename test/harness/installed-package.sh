#!/bin/bash
# Makes the Debian package and installs it in a copy-on-write view of this machine, in which there is no other Node; plays the first commands of
# the README with it, upgrades it in place, removes and purges it. The archive is unpacked there by another user, where the machine has only
# libraries of Debian's base. Nothing of this machine changes. Needs root, dpkg and overlayfs; says so and
# ends with 0 where one is missing.
#   test/harness/installed-package.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() { echo "notice: $*; the package is not installed here"; exit 0; }
if [[ "${1:-}" != inside ]]; then
  ((EUID == 0)) || skip 'not root'
  command -v dpkg-deb >/dev/null || skip 'no dpkg'
  rm -rf dist/packages
  npm run -s package -- --only deb,tar
  deb=(dist/packages/*.deb)
  archive=(dist/packages/*.tar.gz)
  base="$(mktemp -d /dev/shm/proxyd-package-XXXXXX)"
  trap 'rm -rf "$base"' EXIT
  mkdir "$base/upper" "$base/work" "$base/root"
  # A container may not let its root mount anything.
  unshare -mpf sh -c "mount -t overlay overlay -o 'lowerdir=/,upperdir=$base/upper,workdir=$base/work' '$base/root' &&
    mount -t proc proc '$base/root/proc' && mount --rbind /dev '$base/root/dev' && mount -t tmpfs tmpfs '$base/root/run'" 2>/dev/null ||
    skip 'nothing can be mounted'
  cp "${deb[0]}" "$base/proxyd.deb"
  cp "${archive[0]}" "$base/proxyd.tar.gz"
  unshare -mpf "$0" inside "$base"
  exit
fi

base="$2"
root="$base/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
cp "$base/proxyd.deb" "$base/proxyd.tar.gz" "$root/tmp"
chmod 1777 "$root/tmp"
cat >"$root/tmp/play" <<'PLAY'
set -eu
fail() { echo "FAILED: $*" >&2; exit 1; }
until_true() { for _ in $(seq 100); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done; fail "never true: $*"; }
# No other Node may help.
for node in $(type -aP node); do rm -f "$node"; done
export DEBIAN_FRONTEND=noninteractive
# What starts services is not for a view of a machine.
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
dpkg -i /tmp/proxyd.deb
proxyd -V 2>&1 | grep -q '^proxyd' || fail 'proxyd -V'
getent passwd proxyd >/dev/null || fail 'no user proxyd'
cat >/etc/proxyd/default.vcl <<'VCL'
vcl 4.1;
backend default none;
sub vcl_recv { return (synth(200, "Installed")); }
VCL
serve() {
  runuser -u proxyd -- proxyd -n /run/proxyd -a 127.0.0.1:18085 -f /etc/proxyd/default.vcl --log-file /tmp/proxyd.log
  until_true curl -sf http://127.0.0.1:18085/
}
serve
curl -s http://127.0.0.1:18085/ | grep -q Installed || fail 'no answer'
proxyadm -n /run/proxyd ping | grep -q PONG || fail 'proxyadm'
proxystat -n /run/proxyd -1 | grep -q MAIN.client_req || fail 'proxystat'
proxylog -n /run/proxyd -d -g request | grep -q ReqURL || fail 'proxylog'
proxyd --lint -f /etc/proxyd/default.vcl >/dev/null || fail 'proxyd --lint'
printf 'vtest "from the package"\nvarnish v1 -vcl { backend b none; sub vcl_recv { return (synth(204)); } } -start\nclient c1 { txreq\nrxresp -no_obj\nexpect resp.status == 204\n} -run\n' >/tmp/a.vtc
proxytest /tmp/a.vtc || fail 'proxytest'
man -w proxyd proxytest proxy-vcl >/dev/null 2>&1 || ls /usr/share/man/man1/proxytest.1* >/dev/null || fail 'manual pages'
# Installed once more, as an upgrade does: the daemon that runs is left alone, and the operator's program is kept.
dpkg -i /tmp/proxyd.deb
curl -s http://127.0.0.1:18085/ | grep -q Installed || fail 'not served on'
grep -q Installed /etc/proxyd/default.vcl || fail 'the program was replaced'
kill "$(cat /run/proxyd/pid)"
until_true test ! -e /run/proxyd/pid
dpkg -r proxyd
test -e /etc/proxyd/default.vcl || fail 'removal took the program'
test ! -e /usr/bin/proxyd || fail 'proxyd is still there'
dpkg -P proxyd
test ! -e /etc/proxyd/default.vcl || fail 'purge left the program'
test ! -e /usr/lib/proxyd || fail 'purge left /usr/lib/proxyd'
rm -f /lib/x86_64-linux-gnu/libatomic.so.1* /usr/lib/x86_64-linux-gnu/libatomic.so.1*
cat >/tmp/unpacked <<'UNPACKED'
set -eu
mkdir '/tmp/other place'
tar -xzf /tmp/proxyd.tar.gz -C '/tmp/other place' --strip-components=1
cd '/tmp/other place'
printf 'vcl 4.1; backend b none; sub vcl_recv { return (synth(200, "Unpacked")); }' >site.vcl
bin/proxyd -n /tmp/n -a 127.0.0.1:18086 -f site.vcl --log-file /tmp/unpacked.log
for _ in $(seq 100); do bin/proxyadm -n /tmp/n ping >/dev/null 2>&1 && break; sleep 0.1; done
curl -s --retry 20 --retry-connrefused http://127.0.0.1:18086/ | grep -q Unpacked
ln -s '/tmp/other place/bin/proxystat' /tmp/link
/tmp/link -n /tmp/n -1 | grep -q MAIN.client_req
bin/proxytest lib/proxyd/console/proxytest/examples/*.vtc | grep -q '10 passed'
kill "$(cat /tmp/n/pid)"
UNPACKED
runuser -u nobody -- bash /tmp/unpacked || fail 'the archive'
echo 'installed, served, upgraded, removed, purged; unpacked and served'
PLAY
chroot "$root" bash /tmp/play
