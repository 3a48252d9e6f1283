/** Tests tokens that answer every call with a megabyte, on a real node and on a node without limits. */
import { startAnvil, type Anvil } from '../../../src/dev/node/anvil';
import { MULTICALL3 } from '../../../src/dev/world/buildWorld';
import { openDevRpc, type DevRpc } from '../../../src/dev/node/devRpc';
import { readOwnRuntimeBytecode } from '../../../src/dev/packageFiles';
import { createEndpointPool } from '../../../src/node/rpc/endpointPool';
import { createAccountState } from '../../../src/node/rpc/createAccountState';
import type { Hex } from '../../../src/domain/hex';
import { askContracts } from '../../../src/node/calls/askContracts';
import { readTokens } from '../../../src/ingest/pools/tokenMetadata';
import { createLog } from '../../../src/log';
import { askNames } from '../../../src/query/contracts/askNames';
import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';
import { readContractCodes } from '../../../src/contracts/readContractCode';
import { FakeChain } from '../../support/node/fakeChain';
import { FakeNode } from '../../support/node/fakeNode';

const log = createLog('silent', false);
const addressOf = (index: number): Hex => `0x${(0x1000 + index).toString(16).padStart(40, '0')}`;
/** Answers any call with a `string` of 1,048,512 bytes: 32, the length, 32 times "A", zeros. */
const MEGABYTE: Hex = `0x6020600052620fffc06020527f${'41'.repeat(32)}604052621000006000f3`;
/** Answers any call with the `string` "OK". Read as decimals the answer is 32. */
const HONEST: Hex = '0x60206000526002602052614f4b60f01b60405260606000f3';
/** The start of a long text is kept. An answer of a megabyte is no number. */
const START = { symbol: 'A'.repeat(32), name: 'A'.repeat(32), decimals: null };
const NOTHING = { symbol: null, name: null, decimals: null };
/** Every third token is honest. */
const isHonest = (index: number): boolean => index % 3 === 0;
const tokens = Array.from({ length: 45 }, (_, index) => addressOf(index));
/** One reading of tokens reads 16 long texts: the symbols and names of eight tokens. */
const READ_MAX = 8;
const hostile = tokens.filter((_, index) => !isHonest(index));
const expected = tokens.map((address, index) => {
  if (isHonest(index)) return { address, symbol: 'OK', name: 'OK', decimals: 32 };
  return { address, ...(hostile.indexOf(address) < READ_MAX ? START : NOTHING) };
});

describe('tokens that answer a megabyte harm no other token, on a real node', () => {
  let anvil: Anvil;
  let rpc: DevRpc;
  let hash: Hex;
  let number: number;

  beforeAll(async () => {
    anvil = await startAnvil({ log, timestamp: 1_700_000_000 });
    rpc = openDevRpc(anvil.url);
    for (const [index, token] of tokens.entries())
      await rpc.call('anvil_setCode', [token, isHonest(index) ? HONEST : MEGABYTE]);
    await rpc.call('anvil_setCode', [MULTICALL3, readOwnRuntimeBytecode('DevMulticall3')]);
    await rpc.call('evm_mine');
    const block = (await rpc.call('eth_getBlockByNumber', ['latest', false])) as { hash: Hex; number: Hex };
    hash = block.hash;
    number = Number(block.number);
  });
  afterAll(async () => {
    await rpc.close();
    await anvil.stop();
  });

  test.each(['http', 'ws'])(
    'some tokens that answer a megabyte get the start of it, and the other tokens get their names (over %s)',
    async (wire) => {
      const pool = createEndpointPool({ urls: [anvil.url.replace('http', wire)], chainId: 369, log });
      try {
        const rows = await readTokens(pool, tokens, { number, hash, reversible: true });
        expect(rows).toEqual(expected.map((row) => ({ ...row, version: number })));
      } finally {
        await pool.close();
      }
    },
  );

  test('tokens that answer a megabyte give null for names, calls and balances, and are no proxies', async () => {
    const pool = createEndpointPool({ urls: [anvil.url], chainId: 369, log });
    const [honest, large] = [addressOf(0), addressOf(1)];
    try {
      const node = createAccountState({ rpc: pool, log });
      const names = await askNames(node, { hash } as HeadSnapshot, [large, honest]);
      expect([...names.values()]).toEqual([
        { symbol: null, name: null },
        { symbol: 'OK', name: 'OK' },
      ]);
      const calls = [{ to: large, data: '0x18160ddd' } as const, { to: honest, data: '0x18160ddd' } as const];
      expect(await askContracts(pool, [calls], { at: { blockHash: hash } })).toEqual([
        { answers: [null, expect.stringMatching(/^0x0+20/)], isUnsure: false },
      ]);
      // A DELEGATECALL in the code makes the code reader call facetAddresses() (EIP-2535).
      await rpc.call('anvil_setCode', [addressOf(500), `${MEGABYTE}f4`]);
      const [code] = await readContractCodes(
        pool,
        [{ address: addressOf(500), block: 'latest' }],
        new AbortController().signal,
      );
      expect(code).toMatchObject({ proxy: '', code_size: 56 });
    } finally {
      await pool.close();
    }
  });
});

test('a node that forwards megabytes is cut off, and the other tokens get their names', async () => {
  const node = await new FakeNode({ chain: new FakeChain(1), chainId: 369 }).start();
  const pool = createEndpointPool({ urls: [node.httpUrl], chainId: 369, log });
  const word = (value: number): string => value.toString(16).padStart(64, '0');
  const text = (bytes: number, fill: string): string => `0x${word(32)}${word(bytes)}${fill}`;
  const megabyte = text(1_048_512, '41'.repeat(32) + '00'.repeat(1_048_480));
  let served = 0;
  node.onCall = ({ method, params }) => {
    if (method !== 'eth_call') return undefined;
    served += 1;
    const { to } = params[0] as { to: Hex };
    if (to === MULTICALL3) return { result: `0x${'00'.repeat(8 * 2 ** 20)}` };
    const honest = isHonest(tokens.indexOf(to));
    return { result: honest ? text(2, `4f4b${'0'.repeat(60)}`) : megabyte };
  };
  try {
    const few = tokens.slice(0, 12);
    const rows = await readTokens(pool, few, { number: 1, hash: tokens[0]!, reversible: true });
    expect(rows).toEqual(expected.slice(0, 12).map((row) => ({ ...row, version: 1 })));
    // A batch of calls is halved while it is cut off: at most 2n - 1 requests for n calls.
    expect(served).toBeLessThan(36 * 8);
  } finally {
    await pool.close();
    await node.stop();
  }
});
