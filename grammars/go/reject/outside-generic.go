package p

func f[T any](x T) {
}
