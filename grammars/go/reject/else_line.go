package p

func f() {
	if x {
	}
	else {
	}
}
