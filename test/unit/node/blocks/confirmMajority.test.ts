/** Endpoints with another chain than the majority are outvoted. Without a majority, no block is confirmed. */
import { confirmMajority } from '../../../../src/node/blocks/confirmMajority';
import { TrustedChain } from '../../../../src/node/blocks/trustedChain';
import type { BlockRef } from '../../../../src/domain/block';
import type { Hex } from '../../../../src/domain/hex';
import { FakeChain } from '../../../support/node/fakeChain';
import type { FakeNode } from '../../../support/node/fakeNode';
import { closeAll, silentLog, sourceOf, startNode } from '../setup';

afterEach(closeAll);

/** A fake chain. Chains of different seeds have different blocks. */
function chainOf(seed: number, blocks = 12): FakeChain {
  const chain = new FakeChain(seed);
  chain.mineMany(blocks);
  return chain;
}

async function votersOf(...chains: FakeChain[]) {
  const nodes: FakeNode[] = [];
  for (const chain of chains) nodes.push(await startNode(chain));
  return { nodes, ...sourceOf(nodes, { roundsMax: 1 }) };
}

/** Number, hash, parent hash and time of a block. */
function refOf(chain: FakeChain, number: number): BlockRef {
  const { hash, parentHash, timestamp } = chain.at(number);
  return { number, hash: hash as Hex, parentHash: parentHash as Hex, timestamp };
}

const statesOf = ({ pool }: Awaited<ReturnType<typeof votersOf>>): string[] =>
  pool.endpoints.map(({ record }) => record.state);

test('the majority confirms its block, and the endpoint with another chain is benched with both hashes', async () => {
  const [liar, honest] = [chainOf(2), chainOf(1)];
  const voters = await votersOf(liar, honest, honest);
  await confirmMajority(voters, refOf(honest, 7));
  // The vote ends as soon as two of three agree, so the liar may not have answered yet.
  await expect(confirmMajority(voters, refOf(liar, 7))).rejects.toMatchObject({
    code: 'node_failed',
    retryable: true,
    message: expect.stringContaining(`for block 7, the majority of the endpoints has ${honest.at(7).hash}`),
  });
  expect(statesOf(voters)).toEqual(['benched', 'ok', 'ok']);
  const { endpoints, mismatches } = voters.pool.health();
  expect(endpoints[0]!.lastError).toContain(
    `block 7 fails verification (majority): hash is ${liar.at(7).hash}, the majority of the endpoints says ${honest.at(7).hash}`,
  );
  expect(mismatches.majority).toBeGreaterThan(0);
});

test('two endpoints that contradict each other confirm nothing, and neither is benched', async () => {
  const [one, other] = [chainOf(1), chainOf(2)];
  const voters = await votersOf(one, other);
  const refused = {
    code: 'node_failed',
    retryable: true,
    message: expect.stringMatching(/^no majority.*endpoint #0 has 0x.*endpoint #1 has 0x/),
  };
  await expect(confirmMajority(voters, refOf(one, 3))).rejects.toMatchObject(refused);
  await expect(confirmMajority(voters, refOf(other, 3))).rejects.toMatchObject(refused);
  expect(statesOf(voters)).toEqual(['ok', 'ok']);
});

test('endpoints that do not answer or do not have the block do not count', async () => {
  const honest = chainOf(1);
  const voters = await votersOf(honest, chainOf(1, 2), honest);
  await voters.nodes[2]!.stop();
  await confirmMajority(voters, refOf(honest, 9));
  await expect(confirmMajority(voters, refOf(chainOf(3), 9))).rejects.toMatchObject({ code: 'node_failed' });
  await expect(confirmMajority(voters, { ...refOf(honest, 9), number: 500 })).rejects.toThrow(
    /none has the block/,
  );
});

test('a chain that is longer than the others is compared at the heights that they have', async () => {
  const [liar, honest, behind] = [chainOf(2, 60), chainOf(1, 40), chainOf(1, 30)];
  const voters = await votersOf(liar, honest, behind);
  await expect(confirmMajority(voters, refOf(liar, 55))).rejects.toMatchObject({
    message: expect.stringContaining(`for block 32, the majority of the endpoints has ${honest.at(32).hash}`),
  });
  expect(statesOf(voters)).toEqual(['benched', 'ok', 'ok']);
  // A block is confirmed even if the second of two endpoints does not have the block yet.
  const others = await votersOf(honest, behind);
  await confirmMajority(others, refOf(honest, 38));
  expect(statesOf(others)).toEqual(['ok', 'ok']);
});

test('a block below TRUSTED_BLOCK must be its ancestor, and endpoints with another block are benched', async () => {
  const [liar, honest] = [chainOf(2, 1_300), chainOf(1, 1_300)];
  const voters = await votersOf(liar, honest);
  const { number, hash } = refOf(honest, 1_290);
  const chain = new TrustedChain(voters, { number, hash }, silentLog);
  const { signal } = new AbortController();
  await expect(chain.check(refOf(liar, 20), signal)).rejects.toMatchObject({
    code: 'node_failed',
    retryable: true,
  });
  expect(statesOf(voters)).toEqual(['benched', 'ok']);
  for (const at of [20, 790, 21, 1_289, 1_290, 0, 1_295]) await chain.check(refOf(honest, at), signal);
  await expect(chain.check(refOf(liar, 789), signal)).rejects.toThrow(
    /TRUSTED_BLOCK descends from block 789 0x/,
  );
});

test('a stored final block that most endpoints contradict is not canonical', async () => {
  const [liar, honest] = [chainOf(2), chainOf(1)];
  const { source, pool } = await votersOf(liar, honest, honest);
  expect(await source.confirmCanonical(refOf(liar, 5))).toBe(false);
  expect(await source.confirmCanonical(refOf(honest, 5))).toBe(true);
  expect(pool.endpoints.map(({ record }) => record.state)).toEqual(['benched', 'ok', 'ok']);
});

test('if the blocks of a range do not follow the known block before the range, another endpoint is used', async () => {
  const [liar, honest] = [chainOf(2), chainOf(1)];
  const { source, pool } = await votersOf(liar, honest);
  const parent = refOf(honest, 4).hash;
  const blocks = await source.fetchRange(5, 8, { parent });
  expect(blocks.map(({ hash }) => hash)).toEqual([5, 6, 7, 8].map((number) => honest.at(number).hash));
  expect(pool.endpoints[0]!.record.state).toBe('benched');
});
