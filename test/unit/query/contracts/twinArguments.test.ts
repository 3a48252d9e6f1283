/**
 * Tests how the constructor arguments of an unverified contract are derived from a verified contract with the
 * same code (its twin). Without proof in both creation transactions, no arguments are returned.
 */
import { AbiCoder, getCreateAddress } from 'ethers';

import type { Hex } from '../../../../src/domain/hex';
import type { VerifiedContract } from '../../../../src/domain/verifiedContract';
import { silentFacts, type ContractFacts } from '../../../../src/query/contracts/contractFacts';
import { createTwinArguments, findWholeVerification } from '../../../../src/query/contracts/twinArguments';

const SENDER: Hex = `0x${'5e'.repeat(20)}`;
const CODE = '6080604052';
const addressAt = (nonce: number): Hex => getCreateAddress({ from: SENDER, nonce }).toLowerCase() as Hex;
const hashAt = (nonce: number): Hex => `0x${String(nonce).repeat(64)}`;
const encode = (value: number, text: string): string =>
  AbiCoder.defaultAbiCoder().encode(['uint256', 'string'], [value, text]).slice(2);
const ORIGINAL = encode(1, 'the first');
const OWN = encode(2, 'quite another one');
const TWIN = { chainId: 943, address: addressAt(2) };

const original: VerifiedContract = {
  chainId: 369,
  address: addressAt(1),
  status: 'exact_match',
  source: 'local',
  matchId: '1',
  twinOf: null,
  verifiedAt: 1,
  name: 'A',
  path: 'a.sol',
  language: 'Solidity',
  compiler: 'solc',
  compilerVersion: '0.8.30',
  optimization: false,
  runs: 200,
  evmVersion: null,
  license: null,
  abi: [
    {
      type: 'constructor',
      inputs: [
        { name: 'a', type: 'uint256' },
        { name: 'b', type: 'string' },
      ],
    },
  ],
  constructorArguments: `0x${ORIGINAL}`,
  libraries: {},
  creationMatch: null,
  settings: '{}',
  files: [],
};
const twin: VerifiedContract = {
  ...original,
  ...TWIN,
  constructorArguments: null,
  twinOf: { chainId: 369, address: original.address },
};

function factsOf(chainId: number, nonce: number, factory: Hex | null = null): ContractFacts {
  const creation = { creator: SENDER, factory, txHash: hashAt(nonce), block: 1, timestamp: 1 };
  return { ...silentFacts(chainId, addressAt(nonce)), creation };
}

interface Case {
  readonly code?: string;
  readonly to?: Hex;
  readonly own?: ContractFacts;
  readonly told?: Hex | null;
}

/** The arguments returned for the unverified contract, and the number of requests to the node. */
async function ask({ code = CODE + OWN, to, own = factsOf(943, 2), told = `0x${ORIGINAL}` }: Case = {}) {
  let asked = 0;
  const transactions = new Map<unknown, object>([
    [hashAt(1), { from: SENDER, to: null, nonce: '0x1', hash: hashAt(1), input: `0x${CODE}${ORIGINAL}` }],
    [hashAt(2), { from: SENDER, to: to ?? null, nonce: '0x2', hash: hashAt(2), input: `0x${code}` }],
  ]);
  const node = {
    call: (_: string, [hash]: readonly unknown[]) => {
      asked += 1;
      return Promise.resolve({ result: transactions.get(hash) ?? null });
    },
  };
  const verified = {
    find: ({ address }: { address: Hex }) =>
      Promise.resolve(address === TWIN.address ? twin : { ...original, constructorArguments: told }),
  };
  const contracts = { find: () => Promise.resolve(factsOf(369, 1)) };
  const twinArguments = createTwinArguments({ contracts, verified, relayOf: () => node });
  const read = () => findWholeVerification(verified, twinArguments, 943, TWIN.address, own);
  const [first, second] = [await read(), await read()];
  expect(second).toEqual(first);
  return { found: first?.constructorArguments, asked };
}

test('the arguments of a contract are the data after the creation code of its verified twin, and are read once', async () => {
  expect(await ask()).toEqual({ found: `0x${OWN}`, asked: 2 });
});

test.each<[string, Case, number]>([
  ['a twin with another creation code', { code: `00${CODE.slice(2)}${OWN}` }, 2],
  ['data after the code that does not decode', { code: `${CODE}${'00'.repeat(40)}` }, 2],
  ['a creation transaction that calls a factory', { to: SENDER }, 2],
  ['an original with unknown arguments', { told: null }, 0],
  ['an original whose code does not end with its arguments', { told: '0x1234' }, 2],
  ['a twin that a factory created', { own: factsOf(943, 2, SENDER) }, 0],
  ['a twin with an unknown creation', { own: silentFacts(943, TWIN.address) }, 0],
])('no constructor arguments are returned for %s', async (_, given, asked) => {
  expect(await ask(given)).toEqual({ found: null, asked });
});
