/**
 * Networks in CIDR notation, for example `10.0.0.0/8`, addresses as proxies write them, and URLs of Unix sockets.
 */
import { BlockList, isIP } from 'node:net';

/** Tells whether an address belongs to one of the networks. */
export function matchNetworks(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return () => false;
  const blockList = new BlockList();
  for (const network of networks) {
    const parsed = parseNetwork(network);
    if (parsed !== null) blockList.addSubnet(parsed.address, parsed.bits, parsed.family);
  }
  return (address) => {
    const plainAddress = bareAddress(address);
    const ipVersion = isIP(plainAddress);
    return ipVersion !== 0 && blockList.check(plainAddress, ipVersion === 6 ? 'ipv6' : 'ipv4');
  };
}

interface Network {
  readonly address: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** A network, or one address. Null if the text is neither. */
export function parseNetwork(text: string): Network | null {
  const [address = '', bitsText, ...furtherParts] = text.split('/');
  const ipVersion = isIP(address);
  if (ipVersion === 0 || furtherParts.length > 0 || address.includes('%')) return null;
  const bitsMax = ipVersion === 6 ? 128 : 32;
  if (bitsText !== undefined && !/^\d{1,3}$/.test(bitsText)) return null;
  const bits = bitsText === undefined ? bitsMax : Number(bitsText);
  return bits > bitsMax ? null : { address, bits, family: ipVersion === 6 ? 'ipv6' : 'ipv4' };
}

/** Returns an address without its port, brackets, zone, and the prefix of an IPv4 address in IPv6. */
export function bareAddress(text: string): string {
  const inBrackets = /^\[([^\]]*)\](:\d+)?$/.exec(text)?.[1];
  const address = inBrackets ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');
  const mappedIpv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  return mappedIpv4 ?? address.split('%')[0] ?? '';
}

export function isLoopback(address: string): boolean {
  const plainAddress = bareAddress(address);
  return plainAddress === '::1' || plainAddress.startsWith('127.');
}

/**
 * Returns the path in an URL such as `ipc:///run/geth.ipc`, otherwise null. The system cuts off a longer path than 103
 * bytes, and would open another file.
 */
export function readIpcPath(text: string): string | null {
  return /^ipc:\/\/(\/(?![^]*[%?#,])[!-~]{1,102})$/.exec(text)?.[1] ?? null;
}
