// Node's tls as a peer: the flags and the steps of sst_interop, one line of JSON as result (tests/interop/README.md).
import fs from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import { parseArgs } from 'node:util';

const flag = { type: 'string' };
const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: flag, version: flag, cert: flag, key: flag, ca: flag, name: flag, alpn: flag, send: flag, receive: flag,
    expect: flag, steps: flag, 'client-auth': flag,
  },
});
const server = positionals[0] === 'server';
const result = { open: false, closed: false, alert: -1, error: '', sent: 0, received: 0 };
const target = fs.openSync(o.receive, 'w');
const read = (path) => path && fs.readFileSync(path);
const version = o.version && `TLSv${o.version}`;
const options = {
  cert: read(o.cert), key: read(o.key), ca: read(o.ca), minVersion: version, maxVersion: version,
  ALPNProtocols: o.alpn && [o.alpn], allowHalfOpen: true,
};

function finish(error) {
  if (result.done) return;
  result.done = true;
  if (error) {
    const number = /SSL alert number (\d+)/.exec(error.message);
    result.error = `${error.code}: ${error.message}`.trim();
    if (number) result.alert = Number(number[1]);
  }
  fs.closeSync(target);
  fs.writeSync(1, JSON.stringify(result) + '\n');
  process.exit(0);
}

// What has come and was not taken yet; the waiting step is called when there is more.
let ended = false, wake = () => {};
const queue = [];

function take(socket, limit) {
  return new Promise((resolve) => {
    let got = 0;
    wake = () => {
      while (queue.length > 0 && got < limit) {
        const piece = queue.shift();
        const wanted = piece.subarray(0, limit - got);
        if (wanted.length < piece.length) queue.unshift(piece.subarray(wanted.length));
        got += wanted.length;
        result.received += wanted.length;
        fs.writeSync(target, wanted);
      }
      if (got < limit && !(ended && queue.length === 0)) return;
      result.closed = got < limit;
      wake = () => {};
      resolve();
    };
    wake();
  });
}

async function run(socket) {
  result.open = true;
  result.version = socket.getProtocol();
  result.alpn = socket.alpnProtocol || '';
  result.peer_certificate = Object.keys(socket.getPeerCertificate()).length > 0;
  for (const step of (o.steps || 'send,close,drain').split(',')) {
    if (step === 'send') {
      const data = read(o.send);
      await new Promise((resolve) => socket.write(data, resolve));
      result.sent += data.length;
    } else if (step === 'close') {
      await new Promise((resolve) => socket.end(resolve));
    } else {
      await take(socket, step === 'take' ? Number(o.expect) : Infinity);
    }
  }
  finish();
}

function listen(socket) {
  socket.on('error', finish);
  socket.on('data', (piece) => { queue.push(piece); wake(); });
  socket.on('end', () => { ended = true; wake(); });
  socket.on('close', () => finish(new Error('the connection was closed')));
}

setTimeout(() => finish(new Error('timed out')), 30000);
if (server) {
  const listener = tls.createServer({
    ...options, requestCert: Boolean(o['client-auth']), rejectUnauthorized: o['client-auth'] === 'require',
  }, (socket) => { listen(socket); run(socket); });
  listener.on('tlsClientError', finish);
  listener.listen(0, '127.0.0.1', () => fs.writeSync(1, `port=${listener.address().port}\n`));
} else {
  const plain = net.connect({ host: '127.0.0.1', port: Number(o.port), allowHalfOpen: true });
  plain.on('error', finish);
  const socket = tls.connect({ ...options, socket: plain, servername: o.name }, () => run(socket));
  listen(socket);
}
