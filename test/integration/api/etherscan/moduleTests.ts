/** Tests the remaining modules of the Etherscan dialect: creations, blocks, tokens, state of the node,
 * chains. */
import type { LogRow } from '../../../../src/clickhouse/schema/tables';
import { describeRoutes } from '../../../../src/api/openapi';
import { etherscanRoutes } from '../../../../src/api/etherscan/etherscanRoutes';
import type { Hex } from '../../../../src/domain/hex';
import type { AccountState, StateQuestion } from '../../../../src/domain/accountState';
import {
  hexNumber,
  MULTI,
  multi,
  NOBODY,
  notOk,
  openDialectWorld,
  PROXY,
  SINGLE,
  TIP,
  TOKEN,
  movedItem,
  type DialectWorld,
} from './etherscanWorld';
import { emitterOf, wordOf } from '../explorer/logWorld';
import { hexOf } from '../../../support/worlds/worldEvents';
import { createRandom } from '../../../support/createRandom';
import { UNCACHED } from '../../../support/server/uncached';
import { SEED } from '../../../support/run/seed';
import { startExplorer } from '../explorer/explorerServer';

let world: DialectWorld;

beforeAll(async () => {
  world = await openDialectWorld(SEED);
});

afterAll(() => world.close());

test('getcontractcreation returns seven fields per known contract and omits unknown contracts', async () => {
  // A contract can be created again at the same address, so the test expects the last creation.
  const last = new Map(
    world.blocks.flatMap(({ number, created }) =>
      created.map((row) => [row.address, { ...row, number }] as const),
    ),
  );
  const asked = [...last.keys()].slice(0, 9);
  expect(asked.length).toBeGreaterThan(0);
  const wanted = asked.flatMap((address) => {
    const row = last.get(address)!;
    if (row.creator === null) return [];
    return [
      {
        contractAddress: address,
        contractCreator: row.creator,
        txHash: row.tx_hash,
        blockNumber: String(row.number),
        timestamp: String(row.timestamp),
        contractFactory: '',
        creationBytecode: '',
      },
    ];
  });
  const query = { module: 'contract', action: 'getcontractcreation' };
  const contractaddresses = [NOBODY, ...asked].join(', ');
  expect(await world.resultOf({ ...query, contractaddresses })).toEqual(wanted);
  const none = await world.ask({ ...query, contractaddresses: NOBODY });
  expect(none.json).toEqual({ status: '0', message: 'No data found', result: [] });
});

test('listcontracts lists contracts with their ABIs, optionally only verified ones', async () => {
  const query = { module: 'contract', action: 'listcontracts' };
  const items = await world.resultOf({ ...query, filter: 'verified' });
  const listed = new Map((items as { Address: string }[]).map((item) => [item.Address, item]));
  expect([...listed.keys()].sort()).toEqual([MULTI, SINGLE].sort());
  for (const address of [SINGLE, MULTI]) {
    expect(listed.get(address)).toMatchObject({
      ABI: JSON.stringify(multi.contract.abi),
      ContractName: 'Vault',
    });
  }
  const all = (await world.resultOf(query)) as { Address: string; ABI: string }[];
  expect(all.find(({ Address }) => Address === emitterOf(0))).toEqual({
    Address: emitterOf(0),
    ABI: 'Contract source code not verified',
  });
  expect((await world.ask({ ...query, filter: 'x' })).json).toEqual(notOk('Error! Invalid filter format'));
});

test('getblocknobytime finds the closest block before or after any time', async () => {
  const random = createRandom(SEED + 1);
  const times = world.blocks.map(({ timestamp }) => timestamp);
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  for (let round = 0; round < 60; round += 1) {
    const time = round < 20 ? random.pick(times) : first - 5 + random.int(last - first + 10);
    const query = { module: 'block', action: 'getblocknobytime', timestamp: String(time) };
    const before = world.blocks.findLast(({ timestamp }) => timestamp <= time);
    const after = world.blocks.find(({ timestamp }) => timestamp >= time);
    const none = 'Error! No closest block found';
    const answers = [
      await world.resultOf(query),
      await world.resultOf({ ...query, closest: 'before' }),
      await world.resultOf({ ...query, closest: 'after' }),
    ];
    const shown = (number: number | undefined): string => (number === undefined ? none : String(number));
    expect({ time, answers }).toEqual({
      time,
      answers: [shown(before?.number), shown(before?.number), shown(after?.number)],
    });
  }
});

test('getblockcountdown estimates the waiting time from the mean block time', async () => {
  const [first, last] = [world.blocks[0]!, world.blocks.at(-1)!];
  const seconds = ((last.timestamp - first.timestamp) / (last.number - first.number)) * 100;
  const query = { module: 'block', action: 'getblockcountdown', blockno: String(TIP + 100) };
  expect(await world.resultOf(query)).toEqual({
    CurrentBlock: String(TIP),
    CountdownBlock: String(TIP + 100),
    RemainingBlock: '100',
    EstimateTimeInSec: seconds.toFixed(1),
  });
});

test('eth_blockNumber answers in the JSON-RPC format of a node', async () => {
  const { json } = await world.ask({ module: 'proxy', action: 'eth_blockNumber' });
  expect(json).toEqual({ jsonrpc: '2.0', id: 1, result: hexNumber(TIP) });
});

test('gettxreceiptstatus is 1 for a transaction with an indexed log', async () => {
  const query = { module: 'transaction', action: 'gettxreceiptstatus' };
  const [log] = world.blocks[3]!.logs;
  expect(await world.resultOf({ ...query, txhash: log!.tx_hash })).toEqual({ status: '1' });
  expect(await world.resultOf({ ...query, txhash: wordOf(1) })).toEqual({ status: '' });
  expect((await world.ask({ ...query, txhash: '0x1' })).json).toEqual(notOk('Error! Invalid txhash format'));
});

const transferItem = (row: LogRow) => ({
  ...movedItem(world.blocks, row, `0x${row.topic1!.slice(26)}`, `0x${row.topic2!.slice(26)}`),
  value: String(BigInt(row.data)),
  tokenDecimal: '',
});

test('tokentx lists the transfers of a token or a holder, in both orders, page by page', async () => {
  const transfers = world.blocks.flatMap(({ logs }) => logs).filter(({ address }) => address === TOKEN);
  const query = { module: 'account', action: 'tokentx', contractaddress: TOKEN };
  const page = { page: '2', offset: '7' };
  expect(await world.resultOf({ ...query, ...page })).toEqual(transfers.slice(7, 14).map(transferItem));
  const newest = [...transfers].reverse();
  expect(await world.resultOf({ ...query, ...page, sort: 'desc' })).toEqual(
    newest.slice(7, 14).map(transferItem),
  );
  const word = wordOf(2);
  const own = transfers.filter(({ topic1, topic2 }) => topic1 === word || topic2 === word);
  expect(own.length).toBeLessThan(transfers.length);
  const address = `0x${word.slice(26)}`;
  expect(await world.resultOf({ ...query, address })).toEqual(own.map(transferItem));
  const none = await world.ask({ ...query, address: NOBODY });
  expect(none.json).toEqual({ status: '0', message: 'No transactions found', result: [] });
});

test('balances, supplies and calls come from the node at the head, and are refused without a node', async () => {
  const asked: { hash: Hex; question: StateQuestion }[] = [];
  const node: AccountState = {
    ask(hash, questions) {
      asked.push(...questions.map((question) => ({ hash, question })));
      return Promise.resolve(
        questions.map((question) =>
          question.kind === 'coin' ? '0xff' : question.data === '0xdead' ? null : wordOf(77),
        ),
      );
    },
    lacks: () => false,
  };
  const supply = { module: 'stats', action: 'tokensupply', contractaddress: TOKEN };
  const bare = await world.ask(supply);
  expect(bare.json).toEqual(notOk('Error! Missing Or invalid Action name'));
  const api = await startExplorer({ ...world.deps, cache: UNCACHED, nodeOf: () => node }, () => world.head);
  const read = async (query: string) => (await api.ask(`/api?${query}`)).json;
  try {
    const ok = (result: unknown) => ({ status: '1', message: 'OK', result });
    expect(await read(`module=account&action=balance&address=${NOBODY}`)).toEqual(ok('255'));
    expect(await read(`module=account&action=balancemulti&address=${NOBODY},${TOKEN}`)).toEqual(
      ok([
        { account: NOBODY, balance: '255' },
        { account: TOKEN, balance: '255' },
      ]),
    );
    expect(await read(new URLSearchParams(supply).toString())).toEqual(ok(String(BigInt(wordOf(77)))));
    const call = `module=proxy&action=eth_call&to=${TOKEN}`;
    expect(await read(`${call}&data=0x1234`)).toEqual({ jsonrpc: '2.0', id: 1, result: wordOf(77) });
    expect(await read(`${call}&data=0xdead`)).toMatchObject({ jsonrpc: '2.0', error: { code: 3 } });
    expect(asked.every(({ hash }) => hash === world.head.hash)).toBe(true);
  } finally {
    await api.close();
  }
});

test('the chain list names both chains and whether this service stores them', async () => {
  const { json, headers } = await world.api.ask('/v2/chainlist', {
    headers: { origin: 'https://elsewhere.org' },
  });
  // The answer repeats the Host header, so a shared cache must not keep it.
  expect(headers.get('cache-control')).toBe('no-store');
  const items = json?.result as { chainid: string; apiurl: string; blockexplorer: string; status: number }[];
  expect(items.map(({ chainid, status }) => [chainid, status])).toEqual([
    ['369', 1],
    ['943', 0],
  ]);
  for (const { chainid, apiurl, blockexplorer } of items) {
    expect(blockexplorer).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(apiurl).toBe(`${blockexplorer}/v2/api?chainid=${chainid}`);
  }
});

test('the OpenAPI document has every mount with GET and POST', () => {
  const paths = describeRoutes(etherscanRoutes(world.deps))['paths'] as Record<string, object>;
  expect(Object.entries(paths).map(([path, methods]) => [path, Object.keys(methods)])).toEqual([
    ['/api', ['get', 'post']],
    ['/v2/api', ['get', 'post']],
    ['/api/v1', ['get', 'post']],
    ['/api/v1/etherscan', ['get', 'post']],
    ['/api/v1/etherscan/{chainId}/api', ['get', 'post']],
    ['/{chainId}/api', ['get', 'post']],
    ['/v2/network/mainnet/evm/{chainId}/etherscan/api', ['get', 'post']],
    ['/v2/network/testnet/evm/{chainId}/etherscan/api', ['get', 'post']],
    ['/v2/chainlist', ['get']],
    ['/v2/contract/all-chains/{address}', ['get']],
    ['/v2/contract/{chainId}/{address}', ['get']],
    ['/v2/contracts/{chainId}', ['get']],
    ['/v2/verify/{chainId}/{address}', ['post']],
    ['/v2/verify/metadata/{chainId}/{address}', ['post']],
    ['/v2/verify/similarity/{chainId}/{address}', ['post']],
    ['/v2/verify/{verificationId}', ['get']],
    ['/signature-database/v1/lookup', ['get']],
    ['/api/v2/smart-contracts', ['get']],
    ['/api/v2/smart-contracts/{address}', ['get']],
    ['/{chainId}/api/v2/smart-contracts', ['get']],
    ['/{chainId}/api/v2/smart-contracts/{address}', ['get']],
  ]);
});

test('verifyproxycontract gives a ticket, with which checkproxyverification names the implementation', async () => {
  const check = async (address: string, expectedimplementation: string): Promise<unknown[]> => {
    const asked = { module: 'contract', action: 'verifyproxycontract', address, expectedimplementation };
    const { json } = await world.ask(asked);
    if (json!['status'] !== '1') return [json!['status'], json!['result']];
    const guid = String(json!['result']);
    const { json: told } = await world.ask({ module: 'contract', action: 'checkproxyverification', guid });
    return [told!['status'], told!['result']];
  };
  const found = `The proxy's (${PROXY}) implementation contract is found at ${SINGLE} and is successfully updated.`;
  expect(await check(PROXY, SINGLE.toUpperCase().replace('0X', '0x'))).toEqual(['1', found]);
  expect(await check(PROXY, '')).toEqual(['1', found]);
  const [other, nobody] = [hexOf('9c', 3, 40), hexOf('9c', 4, 40)];
  expect(await check(PROXY, other)).toEqual([
    '0',
    `The implementation contract at ${SINGLE} does not match the expected implementation ${other}.`,
  ]);
  expect(await check(nobody, '')).toEqual(['0', `Unable to locate ContractCode at ${nobody}`]);
  const asked = { module: 'contract', action: 'checkproxyverification', guid: PROXY };
  expect((await world.ask(asked)).json).toMatchObject({ status: '0', result: 'Unknown UID' });
});
