/** Compares NFT transfers of the Etherscan dialect with a plain reading of the blocks' logs. */
import { AbiCoder, Interface } from 'ethers';

import type { LogRow } from '../../../../src/clickhouse/schema/tables';
import type { Hex } from '../../../../src/domain/hex';
import type { AccountState } from '../../../../src/domain/accountState';
import { blockOfOrd } from '../../../../src/domain/ord';
import {
  BOX,
  NFT,
  NOBODY,
  openDialectWorld,
  TOKEN,
  topicsOf,
  BOXES,
  movedItem,
  type DialectWorld,
} from './etherscanWorld';
import { wordOf } from '../explorer/logWorld';
import { SEED } from '../../../support/run/seed';
import { startExplorer } from '../explorer/explorerServer';

const NFTS = new Interface([
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
]);
let world: DialectWorld;

beforeAll(async () => {
  world = await openDialectWorld(SEED);
});

afterAll(() => world.close());

interface Moved {
  readonly row: LogRow;
  readonly from: string;
  readonly to: string;
  readonly values: Record<string, string>;
}

const rowsOf = (address: string): LogRow[] =>
  world.blocks.flatMap(({ logs }) => logs).filter((row) => row.address === address);

/** Transfers are decoded with ethers' coder. */
function plainNfts(): Moved[] {
  return rowsOf(NFT).map((row) => {
    const { args } = NFTS.parseLog({ topics: topicsOf(row), data: row.data })!;
    const { from, to, tokenId } = args.toObject();
    return { row, from, to, values: { tokenID: String(tokenId), tokenDecimal: '0' } };
  });
}

function plainBoxes(): Moved[] {
  return rowsOf(BOX).flatMap((row) => {
    const { args, name } = BOXES.parseLog({ topics: topicsOf(row), data: row.data })!;
    const single = name === 'TransferSingle';
    const ids = single ? [args['id']] : [...args['ids']];
    const values = single ? [args['value']] : [...args[4]];
    return ids.map((id, index) => ({
      row,
      from: args['from'],
      to: args['to'],
      values: { tokenID: String(id), tokenValue: String(values[index]) },
    }));
  });
}

const itemOf = ({ row, from, to, values }: Moved) => ({
  ...movedItem(world.blocks, row, from.toLowerCase(), to.toLowerCase()),
  ...values,
});

test.each([
  ['tokennfttx', NFT, plainNfts],
  ['token1155tx', BOX, plainBoxes],
])(
  'the action %s lists the transfers of a contract or a holder, in both orders, page by page',
  async (action, contract, plain) => {
    const all = plain();
    expect(all.length).toBeGreaterThan(50);
    const query = { module: 'account', action, contractaddress: contract };
    const page = { page: '2', offset: '7' };
    expect(await world.resultOf({ ...query, ...page })).toEqual(all.slice(7, 14).map(itemOf));
    // The order is by log, newest first. The ids of one batch keep their order.
    const newest = [...new Set(all.map(({ row }) => row))]
      .reverse()
      .flatMap((row) => all.filter((moved) => moved.row === row));
    const desc = { ...page, sort: 'desc' };
    expect(await world.resultOf({ ...query, ...desc })).toEqual(newest.slice(7, 14).map(itemOf));
    const address = `0x${wordOf(2).slice(26)}`;
    const own = all.filter(({ from, to }) => [from, to].some((side) => side.toLowerCase() === address));
    expect(own.length).toBeGreaterThan(0);
    expect(own.length).toBeLessThan(all.length);
    expect(await world.resultOf({ ...query, address })).toEqual(own.map(itemOf));
    const byHolder = { module: 'account', action, address };
    expect(await world.resultOf(byHolder)).toEqual(own.map(itemOf));
    const from = world.blocks[10]!.number;
    const late = own.filter(({ row }) => blockOfOrd(row.ord) >= from);
    expect(await world.resultOf({ ...byHolder, startblock: String(from) })).toEqual(late.map(itemOf));
    const none = await world.ask({ ...byHolder, address: NOBODY });
    expect(none.json).toEqual({ status: '0', message: 'No transactions found', result: [] });
  },
);

test('the name of a contract that is not in the token table comes from the node', async () => {
  const text = (said: string): Hex => AbiCoder.defaultAbiCoder().encode(['string'], [said]) as Hex;
  const node: AccountState = {
    ask: (_hash, questions) =>
      Promise.resolve(
        questions.map((question) => {
          if (question.kind !== 'call' || question.to !== NFT) return null;
          return text(question.data === '0x06fdde03' ? 'Nifty One' : 'N1');
        }),
      ),
    lacks: () => false,
  };
  const api = await startExplorer({ ...world.deps, nodeOf: () => node }, () => world.head);
  try {
    for (const [action, contract, named] of [
      ['tokennfttx', NFT, { tokenName: 'Nifty One', tokenSymbol: 'N1' }],
      ['token1155tx', BOX, { tokenName: '', tokenSymbol: '' }],
    ] as const) {
      const path = `/api?module=account&action=${action}&contractaddress=${contract}&page=1&offset=3`;
      expect((await api.ask(path)).json?.result).toMatchObject([named, named, named]);
    }
  } finally {
    await api.close();
  }
});

test('an action for one token standard does not list transfers of another standard', async () => {
  const of = (action: string, contractaddress: string) =>
    world.ask({ module: 'account', action, contractaddress }).then(({ json }) => json?.message);
  expect(await of('tokentx', NFT)).toBe('No transactions found');
  expect(await of('tokennfttx', TOKEN)).toBe('No transactions found');
  expect(await of('token1155tx', NFT)).toBe('No transactions found');
  expect(await of('tokentx', TOKEN)).toBe('OK');
});

test('actions that need more than logs are refused instead of answered with an empty list', async () => {
  for (const action of ['txlist', 'txlistinternal', 'getminedblocks'])
    expect((await world.ask({ module: 'account', action, address: TOKEN })).json).toEqual({
      status: '0',
      message: 'NOTOK',
      result: 'Error! Missing Or invalid Action name',
    });
});
