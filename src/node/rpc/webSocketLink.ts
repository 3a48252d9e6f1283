/** A WebSocket connection to a node. The size of a message is limited while the message arrives. */
import type { Socket } from 'node:net';

import { WebSocket, type RawData } from 'ws';

import { TIME_LIMITS } from '../../domain/time/timeLimits';
import { AnswerMeter, tooLargeText } from './answerBounds';
import { kindOfHttpStatus } from './rpcError';
import { endpointError, oversizedError, reasonOf, USER_AGENT } from './rpcTransport';
import type { OpenLink } from './socketTransport';

export const openWebSocket: OpenLink = (endpoint, options, events) => {
  const { bodyBytesMax } = options;
  const headers: Record<string, string> = { 'user-agent': USER_AGENT };
  if (endpoint.authorization !== null) headers['authorization'] = endpoint.authorization;
  const socket = new WebSocket(endpoint.url, {
    headers,
    handshakeTimeout: Math.min(TIME_LIMITS.handshakeMs, options.timeoutMs),
    maxPayload: bodyBytesMax,
    perMessageDeflate: false,
    followRedirects: false,
  });
  const end = (): void => {
    meter.close();
    socket.terminate();
  };
  const meter = new AnswerMeter(bodyBytesMax, (why) => {
    events.onEnd(oversizedError(endpoint, why, 'answer'));
    end();
  });
  // The 'error' listener stays for the socket's whole life. Without one, an error would end the process.
  socket.on('error', (error) => {
    const tooLarge = 'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
    const failure = tooLarge
      ? oversizedError(endpoint, tooLargeText(bodyBytesMax), 'answer')
      : endpointError(endpoint, 'network', reasonOf(error), { cause: error });
    events.onEnd(failure);
  });
  let carrier: Socket | null = null;
  socket.on('upgrade', (response) => {
    carrier = response.socket;
  });
  socket.on('unexpected-response', (_request, response) => {
    const status = response.statusCode ?? 0;
    const text = `the server answered HTTP ${status} and opened no WebSocket`;
    events.onEnd(endpointError(endpoint, kindOfHttpStatus(status), text));
    end();
  });
  socket.on('close', (code) => {
    meter.close();
    events.onEnd(endpointError(endpoint, 'network', `the connection was closed (code ${code})`));
  });
  socket.on('message', (message) => {
    meter.restart();
    events.onHeard();
    events.onMessage(toPieces(message));
  });
  socket.on('pong', () => events.onHeard());
  socket.on('open', () => {
    carrier?.on('data', (piece: Buffer) => meter.add(piece));
    events.onOpen();
  });
  return {
    send: (text, onError) =>
      socket.send(text, (error) => {
        if (error !== undefined && error !== null) onError(error);
      }),
    ping: () => socket.ping(),
    end,
  };
};

function toPieces(message: RawData): Buffer[] {
  if (Array.isArray(message)) return message;
  return [Buffer.isBuffer(message) ? message : Buffer.from(message)];
}
