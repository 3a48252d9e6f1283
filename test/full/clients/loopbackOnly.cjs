/** Loaded into every Node client. A request to another machine fails at once, as it would offline. */
const net = require('node:net');

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/;
const connect = net.Socket.prototype.connect;

net.Socket.prototype.connect = function (...args) {
  const [first] = Array.isArray(args[0]) ? args[0] : args;
  const options = typeof first === 'object' && first !== null ? first : { port: first, host: args[1] };
  const host = options.host ?? 'localhost';
  if (options.path === undefined && !LOOPBACK.test(host)) {
    process.nextTick(() => this.destroy(new Error(`no network: ${host} is not this machine`)));
    return this;
  }
  return connect.apply(this, args);
};
