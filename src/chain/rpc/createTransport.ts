/** Chooses HTTP or WebSocket by the scheme of an endpoint's URL. */
import { createHttpTransport } from './httpTransport';
import { parseEndpointUrl, type RpcTransport, type TransportOptions } from './rpcTransport';
import { createWsTransport } from './wsTransport';

/**
 * Creates the transport for the endpoint at place `index` of the configured list. @throws AppError
 * `bad_config` if the URL is not http(s) or ws(s).
 */
export function createTransport(url: string, index: number, options: TransportOptions): RpcTransport {
  const endpoint = parseEndpointUrl(url, index);
  return endpoint.url.protocol.startsWith('ws')
    ? createWsTransport(endpoint, options)
    : createHttpTransport(endpoint, options);
}
