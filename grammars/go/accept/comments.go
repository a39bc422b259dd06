package p

// only
// comments

