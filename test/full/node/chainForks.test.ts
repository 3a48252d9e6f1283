/**
 * Blocks of real nodes with the rules of Prague and of an OP chain: their level of proof, and a node that forges an
 * amount.
 */
import { Transaction, Wallet } from 'ethers';

import { createBlockSource } from '../../../src/node/blocks/blockSource';
import type { Hex } from '../../../src/domain/hex';
import { createRandom } from '../../support/createRandom';
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';
import { answerFrom, lie, type Json, type Recorded } from '../../support/node/lies';
import { closeAll, poolOf, silentLog, startNode } from '../../unit/node/setup';

afterEach(closeAll);

/** Creation code of a contract that emits a log with the topics caller and value, and one without topics. */
const EMITTER = '0x600d600c600039600d6000f3' + '3433602060' + '00a260406000a000';
/** Keys of the first two accounts of anvil. */
const [WALLET, OTHER] = [
  new Wallet('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'),
  new Wallet('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'),
];
const FEES = { chainId: 369, gasLimit: 200_000, maxFeePerGas: 3e9, maxPriorityFeePerGas: 1e9 };
const BLOCKS = 5;

type Send = (anvil: TestAnvil, to: string, nonce: number) => Promise<unknown>;

function sign(fields: Parameters<typeof Transaction.from>[0] & object): string {
  const transaction = Transaction.from(fields);
  transaction.signature = WALLET.signingKey.sign(transaction.unsignedHash);
  return transaction.serialized;
}

const sendUsual: Send = ({ rpc }, to, nonce) =>
  rpc.call('eth_sendRawTransaction', [sign({ ...FEES, type: 2, nonce, to, value: 5 })]);

const sendCode: Send = async ({ rpc }, to, nonce) => {
  const authorization = await OTHER.authorize({ chainId: 369, nonce: nonce - 1, address: to });
  const fields = { ...FEES, type: 4, nonce, to, value: 7, authorizationList: [authorization] };
  return rpc.call('eth_sendRawTransaction', [sign(fields)]);
};

const sendDeposit: Send = async ({ rpc }, to, nonce) => {
  const [, from] = (await rpc.call('eth_accounts')) as Hex[];
  const sourceHash = `0x${nonce.toString(16).padStart(64, '0')}`;
  const fields = { from, to, value: '0x9', sourceHash, mint: '0x0', isSystemTx: false, gas: '0x30000' };
  return rpc.call('eth_sendTransaction', [{ ...fields, type: '0x7e' }]);
};

/** Mines blocks with one transaction of Ethereum and one by `send`, and returns all blocks of the node. */
async function record(anvil: TestAnvil, send: Send): Promise<Recorded[]> {
  const { rpc } = anvil;
  const creation = sign({ ...FEES, type: 2, nonce: 0, data: EMITTER });
  const created = await rpc.call('eth_sendRawTransaction', [creation]);
  await rpc.call('evm_mine');
  const { contractAddress } = (await rpc.call('eth_getTransactionReceipt', [created])) as Json;
  const nonceOf = async (): Promise<number> =>
    Number(await rpc.call('eth_getTransactionCount', [WALLET.address, 'pending']));
  for (let block = 0; block < BLOCKS; block += 1) {
    await sendUsual(anvil, String(contractAddress), await nonceOf());
    await send(anvil, String(contractAddress), await nonceOf());
    await rpc.call('evm_mine');
  }
  const blocks: Recorded[] = [];
  for (let number = 0; number <= BLOCKS + 1; number += 1) {
    const at = `0x${number.toString(16)}`;
    const header = await rpc.call('eth_getBlockByNumber', [at, true]);
    blocks.push({ header, receipts: await rpc.call('eth_getBlockReceipts', [at]) } as Recorded);
  }
  return blocks;
}

async function serve(blocks: readonly Recorded[], change?: (block: Recorded) => Recorded) {
  const node = await startNode();
  const answer = answerFrom(blocks, change);
  node.onCall = (call) => ({ result: answer(call) });
  return node.httpUrl;
}

test.each([
  ['prague', ['prague', []], sendCode, 'full'],
  ['an OP chain', ['isthmus', ['--network', 'optimism']], sendDeposit, 'receipts'],
] as const)(
  'blocks of a node with the rules of %s are proven, and a forged amount comes from the honest node',
  async (_, [hardfork, settings], send, level) => {
    const anvil = await startTestAnvil(settings, hardfork);
    const blocks = await record(anvil, send).finally(() => anvil.stop());
    const random = createRandom(7);
    const target = blocks[BLOCKS]!;
    const told = lie(random, target, 'data')!;
    const urls = [await serve(blocks, (block) => (block === target ? told : block)), await serve(blocks)];
    for (const used of [urls, urls.slice(0, 1)]) {
      const pool = poolOf(used, { roundsMax: 2 });
      const source = createBlockSource({ pool, log: silentLog, proof: { mode: 'auto', trusted: null } });
      const last = used.length === 1 ? BLOCKS - 1 : BLOCKS + 1;
      const got = await source.fetchRange(2, last);
      expect(got.map(({ proof }) => proof)).toEqual(got.map(() => level));
      const stored = got.map(({ logs }) => logs.map(({ data }) => data));
      const honest = blocks
        .slice(2, last + 1)
        .map(({ receipts }) => receipts.flatMap(({ logs }) => logs.map((log) => log['data'])));
      expect(stored).toEqual(honest);
      const again = source.fetchRange(BLOCKS, BLOCKS);
      if (used.length === 1) await expect(again).rejects.toThrow(/\(proof\): receiptsRoot is 0x/);
      else {
        expect((await again).map(({ proof }) => proof)).toEqual([level]);
        expect(pool.health().endpoints.map(({ state }) => state)).toEqual(['benched', 'ok']);
      }
    }
  },
);

test('a block with a transaction of an unknown type is stored with a weaker proof if both nodes send it, and in full if one node knows the type', async () => {
  const anvil = await startTestAnvil([], 'prague');
  const blocks = await record(anvil, sendCode).finally(() => anvil.stop());
  const hide = (block: Recorded): Recorded => {
    if (block !== blocks[BLOCKS]) return block;
    const transactions = block.header.transactions.map((transaction) => ({ ...transaction, type: '0x50' }));
    return { ...block, header: { ...block.header, transactions } };
  };
  const [one, other, full] = [await serve(blocks, hide), await serve(blocks, hide), await serve(blocks)];
  for (const [urls, level] of [
    [[one, other], 'receipts'],
    [[one], 'receipts'],
    [[one, full], 'full'],
  ] as const) {
    const weak: unknown[] = [];
    const source = createBlockSource({
      pool: poolOf(urls),
      log: silentLog,
      proof: { mode: 'auto', trusted: null },
      onWeak: ({ number }) => weak.push(number),
    });
    const got = await source.fetchRange(2, BLOCKS + 1);
    const levels = got.map(({ number, proof }) => [number, proof]);
    expect(levels).toEqual(got.map(({ number }) => [number, number === BLOCKS ? level : 'full']));
    expect(weak).toEqual(level === 'full' ? [] : [BLOCKS]);
  }
});
