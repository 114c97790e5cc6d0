-- echo.lua: securestream from LuaJIT, with nothing but dlopen and the public header.
--
--   luajit echo.lua LIBRARY HEADER CERT KEY CA NAME [TIME]
--
--   LIBRARY  libsecurestream.so          CERT, KEY  the server's chain and key (PEM)
--   HEADER   securestream.h              CA         the issuer that the client trusts (PEM)
--   NAME     the name that the certificate must have
--   TIME     judge certificates at this time (seconds since 1970) instead of now
--
-- A client and a server stream talk in this process. Strings stand for the wire: what one side writes is appended to
-- the inbox of the other.

local ffi = require("ffi")
local bit = require("bit")

local library, header, cert_file, key_file, ca_file, name, time = unpack(arg)
if not name then
  io.stderr:write("usage: luajit echo.lua LIBRARY HEADER CERT KEY CA NAME [TIME]\n")
  os.exit(1)
end

local function read_file(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

-- The header is made for this: without its directives, what is for C++, and the word SST_API it is what ffi.cdef takes.
local function declarations(path)
  local lines, for_cplusplus = {}, false
  for line in io.lines(path) do
    if line:find("^#ifdef __cplusplus") then for_cplusplus = true end
    if not for_cplusplus and not line:find("^%s*#") then lines[#lines + 1] = (line:gsub("^SST_API ", "")) end
    if line:find("^#endif") then for_cplusplus = false end
  end
  return table.concat(lines, "\n")
end

ffi.cdef(declarations(header))
local sst = ffi.load(library)
assert(sst.sst_version_number() == sst.SST_VERSION_NUMBER, "the header and the library are of different versions")

-- Calls get(object, error) for the record of a failure.
local function reason(get, object, status)
  local record = ffi.new("sst_error", { size = ffi.sizeof("sst_error") })
  get(object, record)
  local text = record.code ~= 0 and ffi.string(record.message) or ""
  if text == "" then text = ffi.string(sst.sst_status_text(status)) end
  return ("%s (%s)"):format(text, ffi.string(sst.sst_status_name(status)))
end

local function check(status, get, object)
  if status < 0 then error(reason(get, object, status), 2) end
  return status
end

-- Two configs: the server's with a credential, the client's with trust. The garbage collector frees in any order.

local function load_pem(load, get, object, path)
  local pem = read_file(path)
  if load == sst.sst_trust_load_pem then return check(load(object, pem, #pem), get, object) end
  return check(load(object, pem, #pem, nil, 0), get, object)
end

local credential = ffi.gc(sst.sst_credential_new(), sst.sst_credential_free)
load_pem(sst.sst_credential_load_pem, sst.sst_credential_last_error, credential, cert_file)
load_pem(sst.sst_credential_load_pem, sst.sst_credential_last_error, credential, key_file)
local server_config = ffi.gc(sst.sst_config_new(), sst.sst_config_free)
check(sst.sst_config_add_credential(server_config, credential), sst.sst_config_last_error, server_config)

local trust = ffi.gc(sst.sst_trust_new(), sst.sst_trust_free)
load_pem(sst.sst_trust_load_pem, sst.sst_trust_last_error, trust, ca_file)
local client_config = ffi.gc(sst.sst_config_new(), sst.sst_config_free)
check(sst.sst_config_set_trust(client_config, trust), sst.sst_config_last_error, client_config)
for _, config in ipairs({ server_config, client_config }) do
  check(sst.sst_config_add_alpn(config, "echo", 4), sst.sst_config_last_error, config)
end

-- A side: a stream, and the wire bytes that wait for it.

local Side = {}
Side.__index = Side
local ROOM = 65536
local room = ffi.new("uint8_t[?]", ROOM)
local progress = ffi.new("sst_progress")

local function new_side(config, role, title)
  local made = ffi.new("sst_stream *[1]")
  check(sst.sst_stream_new(config, role, made), sst.sst_config_last_error, config)
  return setmetatable({ stream = ffi.gc(made[0], sst.sst_stream_free), inbox = "", title = title }, Side)
end

function Side:check(status)
  if status < 0 then error(self.title .. ": " .. reason(sst.sst_stream_last_error, self.stream, status), 2) end
  return status
end

-- Sends what the last call has written.
function Side:send()
  self.peer.inbox = self.peer.inbox .. ffi.string(room, progress.produced)
end

function Side:consume()
  self.inbox = self.inbox:sub(tonumber(progress.consumed) + 1)
end

-- One flight; true when the handshake is finished.
function Side:handshake()
  local status
  repeat
    status = sst.sst_stream_handshake(self.stream, self.inbox, #self.inbox, room, ROOM, progress)
    self:consume()
    self:send() -- also after an error: it is the alert that tells the peer why
  until status ~= sst.SST_NEED_OUTPUT
  return self:check(status) == sst.SST_OK
end

function Side:write(data)
  repeat
    local status = sst.sst_stream_encrypt(self.stream, data, #data, room, ROOM, progress)
    data = data:sub(tonumber(progress.consumed) + 1)
    self:send()
  until self:check(status) ~= sst.SST_NEED_OUTPUT
end

-- All that has come, and whether the peer has closed.
function Side:read()
  local pieces, status = {}, nil
  repeat
    status = sst.sst_stream_decrypt(self.stream, self.inbox, #self.inbox, room, ROOM, progress)
    self:consume()
    pieces[#pieces + 1] = ffi.string(room, progress.produced)
  until self:check(status) ~= sst.SST_NEED_OUTPUT
  return table.concat(pieces), status == sst.SST_CLOSED
end

function Side:close()
  self:check(sst.sst_stream_close(self.stream, room, ROOM, progress))
  self:send()
end

function Side:describe()
  local length = ffi.new("size_t[1]")
  self:check(sst.sst_stream_describe(self.stream, room, ROOM, length))
  local line = ffi.string(room, length[0])
  self:check(sst.sst_stream_alpn(self.stream, room, ROOM, length))
  return ("%s, ALPN %s"):format(line, ffi.string(room, length[0]))
end

-- The talk.

local client = new_side(client_config, sst.SST_ROLE_CLIENT, "client")
local server = new_side(server_config, sst.SST_ROLE_SERVER, "server")
client.peer, server.peer = server, client
client:check(sst.sst_stream_set_server_name(client.stream, name, #name))
if time then client:check(sst.sst_stream_set_verify_time(client.stream, tonumber(time))) end

local rounds, client_done, server_done = 0, false, false
repeat
  rounds = rounds + 1
  assert(rounds < 10, "the handshake does not end")
  client_done = client:handshake()
  server_done = server:handshake()
until client_done and server_done
print("client: " .. client:describe())
print("server: " .. server:describe())

local messages = { "hello", "", ("x"):rep(100000), "good bye" }
for _, message in ipairs(messages) do
  client:write(message)
  server:write((server:read()))
  local echo = client:read()
  assert(echo == message, "the echo is another text")
  print(("echo: %d bytes"):format(#echo))
end

client:close()
local rest, closed = server:read()
assert(rest == "" and closed, "the server did not see the close")
server:close()
rest, closed = client:read()
assert(rest == "" and closed, "the client did not see the close")
local both = bit.bor(sst.SST_STATE_WE_CLOSED, sst.SST_STATE_PEER_CLOSED)
assert(bit.band(sst.sst_stream_state(client.stream), both) == both)
print("closed on both sides")

client, server, client_config, server_config, credential, trust = nil, nil, nil, nil, nil, nil
collectgarbage()
collectgarbage()
assert(sst.sst_live_objects() == 0, "objects are left")
print("no object is left")
