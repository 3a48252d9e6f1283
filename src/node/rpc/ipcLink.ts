/**
 * A connection to a node on the same machine through a Unix socket. The node writes JSON values one after another;
 * JsonFrames finds where each ends.
 */
import { connect } from 'node:net';

import { AnswerMeter } from './answerBounds';
import { JsonFrames } from './jsonFrames';
import { endpointError, oversizedError, reasonOf } from './rpcTransport';
import type { OpenLink } from './socketTransport';

/** Calls have ids from 1 on, so the answer to this call is ignored. */
const PING = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'eth_chainId', params: [] });

export const openIpc: OpenLink = (endpoint, options, events) => {
  const socket = connect({ path: endpoint.socketPath ?? '' });
  const meter = new AnswerMeter(options.bodyBytesMax, (why) => fail(oversizedError(endpoint, why, 'answer')));
  const frames = new JsonFrames({
    onPart: (part) => meter.add(part),
    onMessage: (message) => {
      meter.restart();
      events.onMessage([message]);
    },
  });
  const end = (): void => {
    meter.close();
    frames.close();
    socket.destroy();
  };
  const fail = (error: Error): void => {
    events.onEnd(error);
    end();
  };
  // The 'error' listener stays for the socket's whole life. Without one, an error would end the process.
  socket.on('error', (error) => fail(endpointError(endpoint, 'network', reasonOf(error), { cause: error })));
  socket.on('close', () => fail(endpointError(endpoint, 'network', 'the connection was closed')));
  socket.on('connect', () => events.onOpen());
  socket.on('data', (piece) => {
    events.onHeard();
    if (!frames.add(piece)) fail(endpointError(endpoint, 'network', 'a message of the node is not JSON-RPC'));
  });
  const send = (text: string, onError: (error: Error) => void): void => {
    socket.write(`${text}\n`, (error) => {
      if (error !== undefined && error !== null) onError(error);
    });
  };
  return { send, ping: () => send(PING, () => undefined), end };
};
