module securestream.example/securestream/sessions

go 1.24

require securestream.example/securestream v0.0.0

replace securestream.example/securestream => ../../../../bindings/go
