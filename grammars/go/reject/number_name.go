package p

var x = 1a
