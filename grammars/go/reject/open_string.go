package p

var s = "open
