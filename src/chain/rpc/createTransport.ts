/** Chooses the transport by the URL's scheme. */
import { createHttpTransport } from './httpTransport';
import { parseEndpointUrl, type RpcTransport, type TransportOptions } from './rpcTransport';
import { createWsTransport } from './wsTransport';

/**
 * The transport of the endpoint at `index` of the configured list.
 * @throws AppError `bad_config` if the URL is not http(s) or ws(s).
 */
export function createTransport(url: string, index: number, options: TransportOptions): RpcTransport {
  const endpoint = parseEndpointUrl(url, index);
  return endpoint.url.protocol.startsWith('ws')
    ? createWsTransport(endpoint, options)
    : createHttpTransport(endpoint, options);
}
