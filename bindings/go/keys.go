package securestream

import (
	"encoding/binary"
	"math"

	"securestream.example/securestream/internal/raw"
)

// ExportKeyingMaterial returns length bytes that both ends have and nobody else (RFC 8446, 7.5; RFC 5705). label has 1
// to 249 bytes, context at most 65,535; length is at most 8,160. A nil context is none: in TLS 1.2 that is not the same as
// an empty one.
//
// It fails with [ErrState] before the handshake has finished, [ErrUnsupported] without extended master secret, and
// [ErrInvalidArgument], also for the labels that TLS 1.2 uses itself. Any goroutine, after Close of the peer too.
func (s *Stream) ExportKeyingMaterial(label string, context []byte, length int) ([]byte, error) {
	if length < 0 || length > math.MaxUint16 {
		return nil, failure("export key", raw.SST_ERR_INVALID_ARGUMENT, nil)
	}
	key := make([]byte, length)
	err := s.call("export key", func() int32 { return raw.Sst_stream_export_key(s.native.ptr, label, context, key) })
	if err != nil {
		return nil, err
	}
	return key, nil
}

// TLSExporter is the channel binding tls-exporter (RFC 9266); nil: there is none, since the handshake has not finished or
// has no extended master secret.
func (s *Stream) TLSExporter() []byte { return s.binding(raw.SST_BINDING_TLS_EXPORTER) }

// TLSUnique is the channel binding tls-unique of TLS 1.2 (RFC 5929, 3); nil: there is none, as with TLS 1.3.
func (s *Stream) TLSUnique() []byte { return s.binding(raw.SST_BINDING_TLS_UNIQUE) }

// TLSServerEndPoint is the channel binding tls-server-end-point (RFC 5929, 4); nil: there is none.
func (s *Stream) TLSServerEndPoint() []byte { return s.binding(raw.SST_BINDING_TLS_SERVER_END_POINT) }

func (s *Stream) binding(kind int32) []byte {
	return s.bytes(func(stream *raw.Stream, room *raw.Room) int32 {
		return raw.Sst_stream_channel_binding(stream, kind, room)
	})
}

// TrafficSecret is the TLS 1.3 secret that protects our sending (receive false) or receiving side now (RFC 8446, 7.2), for
// a record layer outside; nil: there is none, as with TLS 1.2.
func (s *Stream) TrafficSecret(receive bool) []byte {
	direction := int32(raw.SST_DIRECTION_SEND)
	if receive {
		direction = raw.SST_DIRECTION_RECEIVE
	}
	return s.bytes(func(stream *raw.Stream, room *raw.Room) int32 {
		return raw.Sst_stream_traffic_secret(stream, direction, room)
	})
}

// OCSPResponse is the OCSP response (DER) that the server stapled, unchecked; nil: none.
func (s *Stream) OCSPResponse() []byte { return s.bytes(raw.Sst_stream_ocsp_response) }

// SignedCertificateTimestamps are the SCTs that the server stapled, unchecked; nil: none.
func (s *Stream) SignedCertificateTimestamps() [][]byte {
	list := s.bytes(raw.Sst_stream_scts)
	if len(list) < 2 {
		return nil
	}
	var scts [][]byte
	for list = list[2:]; len(list) >= 2; {
		end := 2 + int(binary.BigEndian.Uint16(list))
		if end > len(list) {
			return nil
		}
		scts = append(scts, list[2:end:end])
		list = list[end:]
	}
	return scts
}

// timestampList is SCTs as they are sent (RFC 6962, 3.3); false: they are too long for that.
func timestampList(scts [][]byte) ([]byte, bool) {
	if len(scts) == 0 {
		return nil, true
	}
	list := make([]byte, 2)
	for _, sct := range scts {
		if len(sct) > math.MaxUint16 {
			return nil, false
		}
		list = append(binary.BigEndian.AppendUint16(list, uint16(len(sct))), sct...)
	}
	if len(list)-2 > math.MaxUint16 {
		return nil, false
	}
	binary.BigEndian.PutUint16(list, uint16(len(list)-2))
	return list, true
}
