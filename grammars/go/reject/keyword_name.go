package p

var func = 1
