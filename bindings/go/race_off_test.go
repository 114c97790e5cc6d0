//go:build !race

package securestream_test

const raceEnabled = false
