# The edge connector in a program, which includes this before its own subroutines:
#
#     import std;
#     import edge;
#     include "edge_auto.vcl";
#
# The calls alone; what they do, and the acl of those who may purge, is in edge.vcl.

include "edge.vcl";

sub vcl_recv {
	call edge_recv;
}

sub vcl_hit {
	call edge_purge;
}

sub vcl_miss {
	call edge_purge;
}

sub vcl_pass {
	call edge_purge;
}

sub vcl_purge {
	call edge_refresh;
}

sub vcl_deliver {
	call edge_deliver;
}

sub vcl_synth {
	call edge_synth;
}
