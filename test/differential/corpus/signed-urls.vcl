# Addresses that carry a signature, keys in several alphabets, and tokens that are only good for one path.
vcl 4.1;

import std;
import blob;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_init {
  new secret = blob.blob(IDENTITY, "correct horse");
  new salt = blob.blob(BASE64, "c2FsdA==");
  new empty = blob.blob(HEX, "");
}

sub check_signature {
  # /files/NAME?sig=HEX where HEX is the name's bytes in hexadecimal, joined with those of the salt.
  set req.http.X-Name = regsub(req.url, "^/files/([^?]*).*$", "\1");
  set req.http.X-Sig = regsub(req.url, "^.*[?&]sig=([0-9A-Fa-f]*).*$", "\1");
  set req.http.X-Want = blob.encode(HEX, LOWER, blob.decode(IDENTITY, encoded = req.http.X-Name)) +
    salt.encode(HEX, LOWER);
  if (std.tolower(req.http.X-Sig) != req.http.X-Want) {
    return (synth(403, "Bad signature"));
  }
  set req.url = regsub(req.url, "\?.*$", "");
}

sub vcl_recv {
  if (req.url ~ "^/files/") {
    call check_signature;
  }
  if (req.url ~ "^/same") {
    if (blob.same(secret.get(), secret.get()) && !blob.same(secret.get(), salt.get())) {
      set req.http.X-Same = "own";
    }
    set req.http.X-Equal = blob.equal(salt.get(), blob.decode(URL, encoded = "s%61lt"));
    set req.http.X-Length = blob.length(secret.get()) + " " + blob.length(empty.get()) + " " +
      blob.length(blob.sub(secret.get(), 5B, 8B));
  }
  if (req.url ~ "^/codes") {
    set req.http.X-Hex = secret.encode(HEX, UPPER);
    set req.http.X-B64 = secret.encode(BASE64);
    set req.http.X-Url = secret.encode(BASE64URL);
    set req.http.X-Nopad = secret.encode(BASE64URLNOPAD);
    set req.http.X-Pct = secret.encode(URL, LOWER);
    set req.http.X-Part = blob.encode(blob = blob.sub(secret.get(), 5B));
    set req.http.X-Back = blob.transcode(BASE64URLNOPAD, IDENTITY, encoded = req.http.X-Nopad);
    set req.http.X-Mixed = blob.encode(HEX, blob = blob.decode(BASE64, encoded = "AP8Q")) + "|";
  }
  if (req.url ~ "^/bad") {
    set req.http.X-Bad = blob.transcode(HEX, IDENTITY, encoded = "xyz");
  }
  if (req.url ~ "^/digest") {
    set req.http.X-Partial = blob.transcode(HEX, IDENTITY, length = 4, encoded = "41424344");
  }
}

sub vcl_hash {
  hash_data(req.http.X-Name);
}

sub vcl_backend_response {
  set beresp.ttl = 1m;
}

sub vcl_deliver {
  set resp.http.X-Same = req.http.X-Same;
  set resp.http.X-Hash = blob.encode(BASE64, blob = req.hash);
  if (req.http.X-Same) {
    set resp.http.X-Length-Of-Hash = blob.length(req.hash);
  }
}
