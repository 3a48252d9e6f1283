import { Interface } from 'ethers';
import fc from 'fast-check';
import { abi as managerAbi } from '@uniswap/v3-periphery/artifacts/contracts/interfaces/INonfungiblePositionManager.sol/INonfungiblePositionManager.json';

import type { ChainLog } from '../../../../src/domain/block';
import { ZERO_ADDRESS, type Hex } from '../../../../src/domain/hex';
import { ORD_SPAN } from '../../../../src/domain/ord';
import { TRANSFER_BATCH } from '../../../../src/ingest/decode/decodeShares';
import {
  createTransferDecoder,
  type SkippedLogs,
  type TransferRows,
} from '../../../../src/ingest/decode/decodeTransfers';
import { uniswapV3 } from '../../../../src/protocols/uniswapV3/uniswapV3';
import { encode, logsOf, toLog, type Words } from '../../protocols/reference';
import { runsOf } from '../../../support/run/runs';

const ERC20 = new Interface(['event Transfer(address indexed from, address indexed to, uint256 value)']);
const ERC721 = new Interface([
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
]);
const PLAIN = new Interface(['event Transfer(address from, address to, uint256 value)']);
const WETH = new Interface([
  'event Deposit(address indexed dst, uint256 wad)',
  'event Withdrawal(address indexed src, uint256 wad)',
]);
const PLAIN_WETH = new Interface([
  'event Deposit(address dst, uint256 wad)',
  'event Withdrawal(address src, uint256 wad)',
]);
const MANAGER_ABI = new Interface(managerAbi);
const ALL = [ERC20, PLAIN, PLAIN_WETH, ERC721, WETH, MANAGER_ABI];

const hexAddress = (byte: string): Hex => `0x${byte.repeat(20)}`;
const WRAPPED = hexAddress('a1');
const MANAGER = hexAddress('c0');
const TOKEN = hexAddress('70');
const POOL = hexAddress('b0');
const EMITTERS = [WRAPPED, MANAGER, TOKEN];
const BLOCK = { number: 77, timestamp: 1_700_000_000 };
const RUNS = runsOf(800);

const rules = {
  wrappedNative: WRAPPED,
  positionManagers: new Set([MANAGER]),
  keepsShares: (contract: string) => contract === POOL,
  decodePoolEvent: (log: ChainLog) => (log.address === POOL ? uniswapV3.decodeEvent(log) : null),
};

type LogAt = Partial<Pick<ChainLog, 'address' | 'transactionIndex' | 'logIndex'>>;

interface Decoded extends TransferRows {
  readonly skipped: SkippedLogs;
}

function decodeAll(logs: readonly [Words, LogAt][], decoder = createTransferDecoder(rules)): Decoded {
  const rows: TransferRows = { transfers: [], position_events: [], unreadableTokens: new Set() };
  for (const [words, where] of logs) {
    const log = { ...toLog(words), ...where };
    const topic = log.topics[0];
    if (topic !== undefined && decoder.topics.has(topic)) decoder.read(BLOCK, log, rows);
  }
  return { ...rows, skipped: decoder.skipped };
}

const NOTHING = { nft: 0, malformed: 0, unplaced: 0 };

/** Parses a log with the ABI that encodes back to the same bytes, as ethers reads the log. */
function parse(words: Words): { name: string; args: Record<string, unknown>; nft: boolean } | null {
  for (const abi of ALL) {
    try {
      const parsed = abi.parseLog(words);
      if (parsed === null) continue;
      const again = encode(abi, parsed.name, [...parsed.args]);
      if (again.data !== words.data || again.topics.join() !== words.topics.join()) continue;
      const nft = parsed.name === 'Transfer' && abi === ERC721;
      return { name: parsed.name, args: parsed.args.toObject(), nft };
    } catch {
      continue;
    }
  }
  return null;
}

const lower = (value: unknown): string => String(value).toLowerCase();

/** The expected rows of one log, read by ethers. The transaction contains no other log. */
function expected(words: Words, address: Hex, ord: number): object {
  const common = { ord, timestamp: BLOCK.timestamp };
  const row = { ...common, token: address, tx_index: 0 };
  const event = {
    ...common,
    manager: address,
    sender: ZERO_ADDRESS,
    recipient: ZERO_ADDRESS,
    pair: ZERO_ADDRESS,
    tick_lower: 0,
    tick_upper: 0,
    liquidity: 0n,
    amount0: 0n,
    amount1: 0n,
  };
  const none = { transfers: [], position_events: [], unreadableTokens: new Set(), skipped: NOTHING };
  const parsed = parse(words);
  const topic = words.topics[0];
  const isWrapping = ['Deposit', 'Withdrawal'].some((name) => WETH.getEvent(name)?.topicHash === topic);
  const isTransfer = ERC20.getEvent('Transfer')?.topicHash === topic;
  if (!isTransfer && !isWrapping && address !== MANAGER) return none;
  if (isWrapping && address !== WRAPPED && parsed === null) return none;
  const unreadableTokens = new Set(isTransfer ? [address] : []);
  const isPlainNative = isWrapping && address === WRAPPED && words.topics.length === 1;
  if (parsed === null || isPlainNative)
    return { ...none, unreadableTokens, skipped: { ...NOTHING, malformed: 1 } };
  const { name, args, nft } = parsed;
  if (nft && address !== MANAGER) return { ...none, unreadableTokens, skipped: { ...NOTHING, nft: 1 } };
  const parties = { sender: lower(args['from']), recipient: lower(args['to']) };
  switch (name) {
    case 'Transfer': {
      if (nft)
        return {
          ...none,
          position_events: [{ ...event, ...parties, token_id: args['tokenId'], kind: 'transfer' }],
        };
      return { ...none, transfers: [{ ...row, ...parties, amount: args['value'], kind: 'transfer' }] };
    }
    case 'Deposit': {
      const made = { sender: ZERO_ADDRESS, recipient: lower(args['dst']), kind: 'deposit' };
      return { ...none, transfers: [{ ...row, ...made, amount: args['wad'] }] };
    }
    case 'Withdrawal': {
      const made = { sender: lower(args['src']), recipient: ZERO_ADDRESS, kind: 'withdrawal' };
      return { ...none, transfers: [{ ...row, ...made, amount: args['wad'] }] };
    }
    default:
      return { ...none, ...expectedChange(event, name, args) };
  }
}

/** The expected row of an IncreaseLiquidity, DecreaseLiquidity or Collect log. */
function expectedChange(event: object, name: string, args: Record<string, unknown>): object {
  const numbers = { token_id: args['tokenId'], amount0: args['amount0'], amount1: args['amount1'] };
  const kinds = { IncreaseLiquidity: 'increase', DecreaseLiquidity: 'decrease', Collect: 'collect' };
  const kind = kinds[name as keyof typeof kinds];
  const own = kind === 'collect' ? { recipient: lower(args['recipient']) } : { liquidity: args['liquidity'] };
  const skipped = kind === 'increase' ? { ...NOTHING, unplaced: 1 } : NOTHING;
  return { skipped, position_events: [{ ...event, ...numbers, ...own, kind }] };
}

function expectAgreement(words: Words, address: Hex, logIndex: number): void {
  const ord = BLOCK.number * ORD_SPAN + logIndex;
  expect(decodeAll([[words, { address, logIndex }]])).toStrictEqual(expected(words, address, ord));
}

const emitter = fc.constantFrom(...EMITTERS);
const logIndex = fc.nat({ max: ORD_SPAN - 1 });

const EVENTS: [string, Interface][] = [
  ['Transfer', ERC20],
  ['Transfer', ERC721],
  ['Deposit', WETH],
  ['Withdrawal', WETH],
  ['IncreaseLiquidity', MANAGER_ABI],
  ['DecreaseLiquidity', MANAGER_ABI],
  ['Collect', MANAGER_ABI],
];
const anyLog = fc.oneof(...EVENTS.map(([event, abi]) => logsOf(abi, event)));

test.each(EVENTS)('random %s logs are decoded as by ethers, from any emitter', (event, abi) => {
  fc.assert(fc.property(logsOf(abi, event), emitter, logIndex, expectAgreement), { numRuns: RUNS });
});

test('random Transfer logs without indexed arguments are decoded as by ethers, from any emitter', () => {
  fc.assert(fc.property(logsOf(PLAIN, 'Transfer'), emitter, logIndex, expectAgreement), { numRuns: RUNS });
});

/** Damages a log: topics dropped, doubled or moved into the data; words cut, added or with wrong padding. */
const odd = fc
  .tuple(
    anyLog,
    fc.constantFrom('drop', 'double', 'into data', 'cut', 'word off', 'longer', 'digit'),
    fc.nat(),
  )
  .map(([{ topics, data }, change, where]): Words => {
    const index = 1 + (where % (topics.length - 1));
    const rest = topics.filter((_, place) => place !== index);
    const moved = topics[index]!;
    const digit = (text: string, at: number): string =>
      text.length <= 2 ? text : `${text.slice(0, 2 + at)}1${text.slice(3 + at)}`;
    switch (change) {
      case 'drop':
        return { topics: rest, data };
      case 'double':
        return { topics: [...topics, moved], data };
      case 'into data':
        return { topics: rest, data: data + moved.slice(2) };
      case 'cut':
        return { topics, data: data.slice(0, 2 + 2 * (where % 40)) };
      case 'word off':
        return { topics, data: data.slice(0, -64).padEnd(2, '0x') };
      case 'longer':
        return { topics, data: data + '00'.repeat(1 + (where % 33)) };
      default:
        return where % 2 === 0
          ? {
              topics: topics.map((topic, place) => (place === index ? digit(topic, where % 64) : topic)),
              data,
            }
          : { topics, data: digit(data, where % Math.max(1, data.length - 2)) };
    }
  });

test('malformed logs are skipped and counted exactly if ethers finds no event', () => {
  fc.assert(fc.property(odd, emitter, logIndex, expectAgreement), { numRuns: runsOf(4_000) });
});

test('the decoder of transfers never throws', () => {
  const text = fc.oneof(fc.string({ maxLength: 200 }), fc.stringMatching(/^0x[0-9a-fxz-]{64}$/));
  const { topics } = createTransferDecoder(rules);
  const property = fc.property(
    fc.constantFrom(...topics),
    fc.array(text, { maxLength: 4 }),
    text,
    fc.constantFrom(...EMITTERS, POOL),
    (topic, others, data, address) => {
      decodeAll([[{ topics: [topic, ...others], data }, { address }]]);
    },
  );
  fc.assert(property, { numRuns: runsOf(3_000) });
});

test('without position managers, only transfers, deposits, withdrawals and shares of bins are decoded', () => {
  const bare = createTransferDecoder({ ...rules, wrappedNative: null, positionManagers: new Set() });
  const topics = [ERC20.getEvent('Transfer'), WETH.getEvent('Deposit'), WETH.getEvent('Withdrawal')];
  expect([...bare.topics]).toEqual([...topics.map((event) => event!.topicHash), TRANSFER_BATCH]);
});

describe('a Deposit or Withdrawal of any contract changes a balance, unless a Transfer beside it does', () => {
  const USER = hexAddress('22');
  const move = (from: Hex, to: Hex): [Words, LogAt] => [
    encode(ERC20, 'Transfer', [from, to, 8n]),
    { address: TOKEN },
  ];
  const deposit: [Words, LogAt] = [encode(WETH, 'Deposit', [USER, 9n]), { address: TOKEN }];
  const withdrawal: [Words, LogAt] = [encode(WETH, 'Withdrawal', [USER, 9n]), { address: TOKEN }];
  const rowsOf = (...logs: [Words, LogAt][]): unknown[] =>
    decodeAll(logs).transfers.map(({ kind, sender, recipient, amount }) => [kind, sender, recipient, amount]);
  const deposited = ['deposit', ZERO_ADDRESS, USER, 9n];
  const withdrawn = ['withdrawal', USER, ZERO_ADDRESS, 9n];

  test('alone, they mint and burn, with indexed holders and without', () => {
    expect(rowsOf(deposit, withdrawal)).toEqual([deposited, withdrawn]);
    const plain = ['Deposit', 'Withdrawal'].map((event): [Words, LogAt] => [
      encode(PLAIN_WETH, event, [USER, 9n]),
      { address: TOKEN },
    ]);
    expect(rowsOf(...plain)).toEqual([deposited, withdrawn]);
  });

  test.each([
    ['a mint before', [move(ZERO_ADDRESS, USER), deposit]],
    ['a mint after', [deposit, move(ZERO_ADDRESS, USER)]],
    ['a payment to the contract', [move(USER, TOKEN), deposit]],
    ['a burn', [withdrawal, move(USER, ZERO_ADDRESS)]],
    ['a payment by the contract', [withdrawal, move(TOKEN, USER)]],
  ] as [string, [Words, LogAt][]][])('beside %s they change nothing', (_, logs) => {
    const kinds = decodeAll(logs).transfers.map(({ kind }) => kind);
    expect(kinds).toEqual(['transfer']);
  });

  test('a Transfer to another address, of another transaction or of another contract takes nothing away', () => {
    const later = { address: TOKEN, transactionIndex: 1 };
    const others: [Words, LogAt][] = [
      move(USER, hexAddress('33')),
      [move(ZERO_ADDRESS, USER)[0], later],
      [move(ZERO_ADDRESS, USER)[0], { address: MANAGER }],
    ];
    for (const other of others) expect(rowsOf(deposit, other)).toContainEqual(deposited);
  });

  test('the wrapped native token keeps its deposits beside a mint', () => {
    const logs = [deposit, move(ZERO_ADDRESS, USER)].map(([words]): [Words, LogAt] => [
      words,
      { address: WRAPPED },
    ]);
    expect(rowsOf(...logs)).toContainEqual(deposited);
  });
});
