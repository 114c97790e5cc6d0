module securestream.example/tests

go 1.24

require (
	securestream.example/securestream v0.0.0
	securestream.example/securestream/sessions v0.0.0
)

replace securestream.example/securestream => ../bindings/go

// Handshakes that resume a session, by the raw binding.
replace securestream.example/securestream/sessions => ./performance/go/sessions
