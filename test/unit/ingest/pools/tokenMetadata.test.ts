import { AbiCoder } from 'ethers';

import { RpcError } from '../../../../src/node/rpc/rpcError';
import { NAME_MAX, SYMBOL_MAX } from '../../../../src/domain/abiText';
import type { Hex } from '../../../../src/domain/hex';
import type { EthCalls } from '../../../../src/node/calls/askContracts';
import { readTokens } from '../../../../src/ingest/pools/tokenMetadata';
import { createLog } from '../../../../src/log';

const DECIMALS = '0x313ce567';
const BLOCK = { number: 5, hash: `0x${'5'.repeat(64)}`, reversible: true } as const;
const tokenAt = (index: number): Hex => `0x${(index + 1).toString(16).padStart(40, '0')}`;
const word = (value: number): string => value.toString(16).padStart(64, '0');
const string = (text: string): Hex => {
  const bytes = Buffer.from(text);
  return `0x${word(32)}${word(bytes.length)}${bytes.toString('hex').padEnd(Math.ceil(bytes.length / 32) * 64, '0')}`;
};
const EIGHTEEN: Hex = `0x${word(18)}`;

/** What an EVM charges for memory of this many words. */
const gasOf = (words: number): number => 3 * words + words ** 2 / 512;

/**
 * A node without Multicall3. Each token has its text as symbol and name. An answer needs the gas of its memory, and
 * without this gas the call reverts with the text `starved`.
 */
function nodeOf(texts: ReadonlyMap<Hex, string>, starved = 'out of gas') {
  const sizes: number[] = [];
  const answers = new Map([...texts].map(([token, text]) => [token, string(text)]));
  const rpc: EthCalls = {
    batchOutcomes: (calls, parse) =>
      Promise.resolve(
        calls.map(({ params, answerBytesMax = 0 }, index) => {
          const [{ to, data, gas }] = params as [{ to: Hex; data: Hex; gas?: Hex }];
          const answer = data === DECIMALS ? EIGHTEEN : (answers.get(to) ?? '0x');
          if (answer !== '0x' && gasOf(answer.length / 64) > Number(gas))
            return { error: new RpcError('revert', starved) };
          if (answer.length > answerBytesMax)
            return { error: new RpcError('too_large', 'too large', { cut: 'call' }) };
          sizes.push(answer.length);
          return { value: parse(answer, index) };
        }),
      ),
  };
  return { rpc, sizes };
}

describe('symbols and names of any length', () => {
  it.each([
    [3_000, 'out of gas'],
    [100_000, 'out of gas'],
    [2 ** 20, 'EVM error OutOfGas'],
    [2 ** 20, 'execution reverted'],
    [2_000_000, 'gas required exceeds allowance (1000000)'],
  ])('a text of %i bytes is cut to its bound, also if the lack of gas says %s', async (length, starved) => {
    const text = 'x'.repeat(length);
    const { rpc } = nodeOf(
      new Map([
        [tokenAt(0), text],
        [tokenAt(1), 'OK'],
      ]),
      starved,
    );
    expect(await readTokens(rpc, [tokenAt(0), tokenAt(1)], BLOCK)).toEqual([
      {
        address: tokenAt(0),
        symbol: 'x'.repeat(SYMBOL_MAX),
        name: 'x'.repeat(NAME_MAX),
        decimals: 18,
        version: 5,
      },
      { address: tokenAt(1), symbol: 'OK', name: 'OK', decimals: 18, version: 5 },
    ]);
  });

  it('a text beyond the gas or the number of long texts is null and is logged, and costs no further traffic', async () => {
    const lines: string[] = [];
    const log = createLog('warn', false, { write: (line: string) => void lines.push(line) });
    const tokens = Array.from({ length: 30 }, (_, index) => tokenAt(index));
    const { rpc, sizes } = nodeOf(new Map(tokens.map((token) => [token, 'y'.repeat(2 ** 18)])));
    const rows = await readTokens(rpc, tokens, BLOCK, undefined, log);
    const named = rows.filter(({ name }) => name !== null);
    expect(named.length).toBeGreaterThan(0);
    expect(sizes.filter((size) => size > 2 ** 18)).toHaveLength(2 * named.length);
    expect(lines.filter((line) => line.includes('too long'))).toHaveLength(2 * (30 - named.length));
    expect(rows.map(({ decimals }) => decimals)).toEqual(tokens.map(() => 18));
  });
});

describe('tokens in one aggregate call', () => {
  it('a token that burns the gas of the aggregate call does not take the decimals of the tokens after it', async () => {
    const coder = AbiCoder.defaultAbiCoder();
    const alone = nodeOf(
      new Map([
        [tokenAt(0), 'A'],
        [tokenAt(1), 'B'],
      ]),
    );
    const rpc: EthCalls = {
      batchOutcomes: (calls, parse, options) => {
        const [{ to }] = (calls[0]?.params ?? []) as [{ to: Hex }];
        if (!to.startsWith('0xca11bde0')) return alone.rpc.batchOutcomes(calls, parse, options);
        const failed = Array.from({ length: 6 }, () => [false, '0x']);
        return Promise.resolve([{ value: parse(coder.encode(['tuple(bool,bytes)[]'], [failed]), 0) }]);
      },
    };
    expect(await readTokens(rpc, [tokenAt(0), tokenAt(1)], BLOCK)).toMatchObject([
      { symbol: 'A', decimals: 18 },
      { symbol: 'B', decimals: 18 },
    ]);
  });
});
