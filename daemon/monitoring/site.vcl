# Of the compose file.
vcl 4.1;

backend default { .host = "origin"; .port = "80"; }
