/** Sample values for required parameters, taken from the database behind this page. */
import { apiBase, getBody, getChains } from '../core/api.ts';
import { fieldOf } from '../core/stored.ts';

export interface Samples {
  /** The pair with the highest volume and its tokens; null if no pair is known. */
  readonly pair: string | null;
  readonly tokens: readonly string[];
  /** A value for a required parameter; null if none is known. */
  valueFor(path: string, name: string): string | null;
}

/** Longest wait for the samples, in ms. Without samples, the user fills in the forms. */
const WAIT_MS = 5_000;

/** Values that fit every chain. `data` is the selector of `totalSupply()`. */
const CONSTANT_VALUES: Readonly<Record<string, string>> = {
  compilerversion: 'v0.8.30+commit.73712a01',
  contractname: 'Token',
  data: '0x18160ddd',
  gasprice: '1000000000',
  index: '0x0',
  position: '0x0',
  sourceCode: 'pragma solidity ^0.8.30; contract Token {}',
};

export async function loadSamples(signal: AbortSignal): Promise<Samples> {
  const waitSignal = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]);
  const [pair, dex, swap, contract] = await Promise.all(
    [
      '/pairs?limit=1',
      '/dexes?limit=1',
      '/activity?limit=1&event_type=swap',
      '/contracts?verified=true&limit=1',
    ].map((path) => firstOf(path, waitSignal)),
  );
  const chains = await getChains(waitSignal).catch(() => []);
  const pairAddress = textOf(pair, 'address');
  const [token, otherToken] = ['base_token', 'quote_token'].map((side) =>
    textOf(fieldOf(pair, side), 'address'),
  );
  const wallet = textOf(swap, 'maker');
  const verifiedContract = textOf(contract, 'address') ?? token ?? null;
  const block = Number(fieldOf(swap, 'block_number') ?? 0);
  const valueByName: Readonly<Record<string, string | null | undefined>> = {
    ...CONSTANT_VALUES,
    blockno: String(block + 1_000),
    chainId: chains[0]?.chainid,
    contractaddress: token,
    contractaddresses: pairAddress,
    dex_name: textOf(dex, 'dex_name'),
    q: textOf(fieldOf(pair, 'base_token'), 'symbol'),
    symbol: pairAddress,
    symbols: pairAddress,
    timestamp: numberOf(swap, 'timestamp'),
    to: token,
    txhash: textOf(swap, 'tx_hash'),
  };
  return {
    pair: pairAddress,
    tokens: [token, otherToken].filter((token) => typeof token === 'string'),
    valueFor(path, name) {
      const namedValue = valueByName[name];
      if (namedValue !== undefined) return namedValue;
      if (!/address|pair|token|^id$/i.test(name)) return null;
      if (/portfolio|account\.|transactioncount/.test(path)) return wallet;
      if (/\/v2\/(?:contract|verify|smart)|contract\./.test(path)) return verifiedContract;
      return /token|asset|proxy\./.test(path) ? (token ?? null) : pairAddress;
    },
  };
}

/** The first item of a list; null if the request fails or the list is empty. */
async function firstOf(path: string, signal: AbortSignal): Promise<unknown> {
  const data = fieldOf(await getBody(apiBase() + path, signal).catch(() => null), 'data');
  const items: readonly unknown[] = Array.isArray(data) ? data : [];
  return items[0] ?? null;
}

function textOf(item: unknown, field: string): string | null {
  const value = fieldOf(item, field);
  return typeof value === 'string' ? value : null;
}

function numberOf(item: unknown, field: string): string | null {
  const value = fieldOf(item, field);
  return typeof value === 'number' ? String(value) : null;
}
