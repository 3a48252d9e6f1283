/** Compares contract look-ups of the Sourcify and Blockscout dialects with the stored records. */
import { getAddress, id, Interface } from 'ethers';

import {
  MULTI,
  multi,
  NOBODY,
  openDialectWorld,
  PROXY,
  SINGLE,
  single,
  type DialectWorld,
} from './etherscanWorld';
import type { VerifiedRecord } from '../../../../src/contracts/verifiedRecord';
import type { DialectDeps } from '../../../../src/api/etherscan/action';
import { UNCACHED } from '../../../support/server/uncached';
import { SEED } from '../../../support/run/seed';
import { startExplorer } from '../explorer/explorerServer';

let world: DialectWorld;

beforeAll(async () => {
  world = await openDialectWorld(SEED);
});

afterAll(() => world.close());

/** An EIP-55 example with one letter in the wrong case. */
const MISTYPED = '0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

const minimalOf = ({ contract }: VerifiedRecord) => ({
  matchId: expect.stringMatching(/^\d+$/),
  match: contract.status,
  creationMatch: null,
  runtimeMatch: contract.status,
  chainId: '369',
  address: getAddress(contract.address),
  verifiedAt: '2023-11-14T22:13:20Z',
});

const filesOf = ({ sources }: VerifiedRecord) =>
  Object.fromEntries(sources.map(({ path, content }) => [path, { content }]));

const at = (record: VerifiedRecord, query = '') =>
  world.api.ask(`/v2/contract/369/${record.contract.address}${query}`);

const FIELDS = [
  'abi',
  'compilation',
  'creationBytecode',
  'deployment',
  'devdoc',
  'metadata',
  'proxyResolution',
  'runtimeBytecode',
  'signatures',
  'sources',
  'stdJsonInput',
  'stdJsonOutput',
  'storageLayout',
  'userdoc',
];

test('Sourcify: without fields the answer has only the match, for any letter case of the address', async () => {
  for (const record of [single, multi]) {
    const { status, json, headers } = await at(record);
    expect([status, json]).toEqual([200, minimalOf(record)]);
    expect(headers.get('x-indexed-block')).toBe(String(world.head.number));
    const checksummed = await world.api.ask(`/v2/contract/369/${getAddress(record.contract.address)}`);
    expect(checksummed.json).toEqual(minimalOf(record));
  }
});

test('Sourcify: the answer has exactly the requested fields', async () => {
  const settings = JSON.parse(multi.contract.settings) as object;
  const compilation = {
    language: 'Solidity',
    compiler: 'solc',
    compilerVersion: '0.8.20+commit.a1b79de6',
    compilerSettings: settings,
    name: 'Vault',
    fullyQualifiedName: 'a/Vault.sol:Vault',
  };
  expect((await at(multi, '?fields=sources,abi,compilation')).json).toEqual({
    ...minimalOf(multi),
    sources: filesOf(multi),
    abi: multi.contract.abi,
    compilation,
  });
  expect((await at(multi, '?fields=compilation.name,stdJsonInput.language,address')).json).toEqual({
    ...minimalOf(multi),
    compilation: { name: 'Vault' },
    stdJsonInput: { language: 'Solidity' },
  });
  const event = new Interface(multi.contract.abi as never).getEvent('Moved')!;
  const all = (await at(multi, '?fields=all')).json!;
  expect(Object.keys(all).sort()).toEqual([...Object.keys(minimalOf(multi)), ...FIELDS].sort());
  expect(all).toMatchObject({
    stdJsonInput: { language: 'Solidity', sources: filesOf(multi), settings },
    signatures: {
      function: [],
      error: [],
      event: [
        {
          signature: event.format(),
          signatureHash32: id(event.format()),
          signatureHash4: id(event.format()).slice(0, 10),
        },
      ],
    },
    creationBytecode: { transformationValues: { constructorArguments: multi.contract.constructorArguments } },
    proxyResolution: { isProxy: false, proxyType: null, implementations: [] },
    runtimeBytecode: { onchainBytecode: null },
    metadata: null,
  });
  const some = (await at(multi, '?omit=sources,stdJsonInput,abi')).json!;
  const left = FIELDS.filter((field) => !['sources', 'stdJsonInput', 'abi'].includes(field));
  expect(Object.keys(some).sort()).toEqual([...Object.keys(minimalOf(multi)), ...left].sort());
});

test('Sourcify: the runtime code is read from the node at the head', async () => {
  const asked: unknown[] = [];
  const deps: DialectDeps = {
    ...world.deps,
    relayOf: () => ({
      call(method, params) {
        asked.push([method, params]);
        return Promise.resolve({ result: '0x6001' });
      },
    }),
  };
  const api = await startExplorer({ ...deps, cache: UNCACHED }, () => world.head);
  try {
    const { json } = await api.ask(`/v2/contract/369/${SINGLE}?fields=runtimeBytecode.onchainBytecode`);
    expect(json?.['runtimeBytecode']).toEqual({ onchainBytecode: '0x6001' });
    expect(asked).toEqual([['eth_getCode', [SINGLE, { blockHash: world.head.hash }]]]);
  } finally {
    await api.close();
  }
});

test('Sourcify: an unverified contract is a 404 with an empty match, and bad requests get Sourcify errors', async () => {
  const none = await world.api.ask(`/v2/contract/369/${NOBODY}?fields=all`);
  const empty = { match: null, creationMatch: null, runtimeMatch: null };
  expect([none.status, none.json]).toEqual([404, { ...empty, chainId: '369', address: getAddress(NOBODY) }]);
  const other = await world.api.ask(`/v2/contract/943/${SINGLE}`);
  expect([other.status, other.json?.['match']]).toEqual([404, null]);
  for (const [path, status, customCode] of [
    [`/v2/contract/1/${SINGLE}`, 404, 'unsupported_chain'],
    [`/v2/contract/x/${SINGLE}`, 404, 'unsupported_chain'],
    ['/v2/contract/369/0x12', 400, 'invalid_parameter'],
    ['/v2/contract/all-chains/0x12', 400, 'invalid_parameter'],
    [`/v2/contract/369/${MISTYPED}`, 400, 'invalid_parameter'],
    [`/v2/contract/all-chains/${MISTYPED}`, 400, 'invalid_parameter'],
    [`/v2/contract/369/${SINGLE}?fields=abi&omit=sources`, 400, 'invalid_parameter'],
    [`/v2/contract/369/${SINGLE}?fields=constructor`, 400, 'invalid_parameter'],
    [`/v2/contract/369/${SINGLE}?fields=abi.__proto__.x.y.z`, 400, 'invalid_parameter'],
    [`/v2/contract/369/${SINGLE}?fields=compilation.foo`, 400, 'invalid_parameter'],
    [`/v2/contract/369/${SINGLE}?fields=compilation.name.foo`, 400, 'invalid_parameter'],
    [`/v2/contract/369/${SINGLE}?fields=abi.foo`, 400, 'invalid_parameter'],
    [`/v2/contract/369/${SINGLE}?omit=nothing`, 400, 'invalid_parameter'],
  ] as const) {
    const answer = await world.api.ask(path);
    expect([path, answer.status, answer.json?.['customCode']]).toEqual([path, status, customCode]);
    expect(answer.json?.message).toEqual(expect.any(String));
    expect(answer.json?.['errorId']).toEqual(expect.any(String));
  }
});

test('Sourcify: all-chains lists each chain on which an address is verified, and is a 404 if there is none', async () => {
  const { status, json } = await world.api.ask(`/v2/contract/all-chains/${MULTI}`);
  expect([status, json]).toEqual([200, { results: [minimalOf(multi)] }]);
  const none = await world.api.ask(`/v2/contract/all-chains/${NOBODY}`);
  expect([none.status, none.json]).toEqual([404, { results: [] }]);
});

test('Blockscout: a verified contract has the fields that clients read, with and without a chain in the path', async () => {
  const wanted = {
    name: 'Vault',
    language: 'solidity',
    compiler_version: 'v0.8.20+commit.a1b79de6',
    optimization_enabled: true,
    optimization_runs: 200,
    evm_version: 'paris',
    verified_at: '2023-11-14T22:13:20.000000Z',
    abi: multi.contract.abi,
    source_code: multi.sources[0]!.content,
    file_path: 'a/Vault.sol',
    additional_sources: [{ file_path: 'a/Math.sol', source_code: multi.sources[1]!.content }],
    compiler_settings: JSON.parse(multi.contract.settings),
    external_libraries: [{ name: 'Math', address_hash: getAddress(NOBODY) }],
    constructor_args: multi.contract.constructorArguments!.slice(2),
    decoded_constructor_args: null,
    license_type: 'MIT',
    is_verified: true,
    is_fully_verified: true,
    is_partially_verified: false,
    is_changed_bytecode: false,
    is_verified_via_sourcify: true,
    verified_twin_address_hash: null,
    proxy_type: null,
    implementations: [],
    conflicting_implementations: null,
    deployed_bytecode: null,
    creation_bytecode: null,
    creation_status: null,
    certified: false,
  };
  for (const path of ['/api', '/369/api']) {
    const { status, json } = await world.api.ask(`${path}/v2/smart-contracts/${MULTI}?apikey=k`);
    expect([path, status, json]).toEqual([path, 200, wanted]);
  }
  for (const path of [`/api/v2/smart-contracts/${NOBODY}`, `/943/api/v2/smart-contracts/${MULTI}`]) {
    const { status, json } = await world.api.ask(path);
    expect([path, status, json]).toEqual([path, 404, { message: 'Not found' }]);
  }
  for (const address of ['0x12', MISTYPED]) {
    const { status, json } = await world.api.ask(`/api/v2/smart-contracts/${address}`);
    expect([status, json]).toEqual([422, { errors: [expect.objectContaining({ title: 'Invalid value' })] }]);
  }
  expect((await world.api.ask(`/1/api/v2/smart-contracts/${MULTI}`)).status).toBe(404);
});

test('Sourcify and Blockscout give the implementation of a proxy and the decoded constructor arguments', async () => {
  const contracts = {
    ...world.deps.contracts,
    find: async (chainId: number, address: `0x${string}`) => {
      const facts = await world.deps.contracts.find(chainId, PROXY);
      return facts === null ? null : { ...facts, address };
    },
  };
  const abi = [
    {
      type: 'constructor',
      inputs: [
        { name: 'owner', type: 'address' },
        {
          name: 'limits',
          type: 'tuple[]',
          components: [
            { name: 'most', type: 'uint256' },
            { name: 'open', type: 'bool' },
          ],
        },
      ],
    },
  ];
  const encoded = new Interface(abi).encodeDeploy([NOBODY, [[2n ** 100n, true]]]);
  const record = {
    ...(await world.deps.verified.find({ chainId: 369, address: SINGLE }, null))!,
    abi,
    constructorArguments: encoded as `0x${string}`,
  };
  const verified = { ...world.deps.verified, find: () => Promise.resolve(record) };
  const api = await startExplorer({ ...world.deps, contracts, verified, cache: UNCACHED }, () => world.head);
  try {
    const { json } = await api.ask(`/api/v2/smart-contracts/${PROXY}`);
    expect(json).toMatchObject({
      proxy_type: 'eip1167',
      implementations: [{ address_hash: getAddress(SINGLE), name: 'Vault' }],
      decoded_constructor_args: [
        [getAddress(NOBODY), { name: 'owner', type: 'address' }],
        [[[String(2n ** 100n), true]], { name: 'limits', type: 'tuple[]' }],
      ],
    });
    const looked = await api.ask(`/v2/contract/369/${PROXY}?fields=proxyResolution`);
    expect(looked.json?.['proxyResolution']).toEqual({
      isProxy: true,
      proxyType: 'EIP1167Proxy',
      implementations: [{ address: getAddress(SINGLE), name: 'Vault' }],
    });
  } finally {
    await api.close();
  }
});
