/** Chooses HTTP, WebSocket or IPC by the scheme of an endpoint's URL. */
import { createHttpTransport } from './httpTransport';
import { openIpc } from './ipcLink';
import { parseEndpointUrl, type RpcTransport, type TransportOptions } from './rpcTransport';
import { createSocketTransport } from './socketTransport';
import { openWebSocket } from './webSocketLink';

/**
 * Creates the transport for the endpoint at place `index` of the configured list. @throws AppError
 * `bad_config` if the URL is not http(s), ws(s) or ipc.
 */
export function createTransport(url: string, index: number, options: TransportOptions): RpcTransport {
  const endpoint = parseEndpointUrl(url, index);
  if (endpoint.socketPath !== null) return createSocketTransport(endpoint, options, openIpc);
  return endpoint.url.protocol.startsWith('ws')
    ? createSocketTransport(endpoint, options, openWebSocket)
    : createHttpTransport(endpoint, options);
}
