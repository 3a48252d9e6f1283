/**
 * Test servers that answer like Sourcify and Blockscout, and folders in Sourcify's layouts, with the contracts of
 * verifiedWorld.ts.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';

import { getAddress, keccak256, toUtf8Bytes } from 'ethers';

import { addressOf, type WorldContract } from '../worlds/verifiedWorld';
import { listen } from '../server/listen';

export interface PlacedContract {
  readonly contract: WorldContract;
  readonly chainId: number;
  readonly match: 'full_match' | 'partial_match';
}

/** Writes contracts in the layout of Sourcify's repository. Returns the folder of each contract. */
export function writeRepository(root: string, version: 1 | 2, placed: readonly PlacedContract[]): string[] {
  return placed.map(({ contract, chainId, match }) => {
    const folder = join(root, 'contracts', match, String(chainId), getAddress(addressOf(contract)));
    mkdirSync(join(folder, 'sources'), { recursive: true });
    writeFileSync(join(folder, 'metadata.json'), contract.metadata);
    for (const [path, { content }] of Object.entries(contract.input.sources)) {
      const name = version === 1 ? path.replaceAll(/[@:]/g, '_') : keccak256(toUtf8Bytes(content));
      const file = join(folder, 'sources', name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
    return folder;
  });
}

interface FakeServer {
  readonly url: string;
  /** Requested paths, in order. */
  readonly asked: string[];
  /** Answers the next `count` requests with 429. */
  failNext(count: number): void;
  close(): Promise<void>;
}

type Handler = (url: URL) => { readonly status: number; readonly body: unknown };

async function serve(handle: Handler): Promise<FakeServer> {
  const asked: string[] = [];
  let failures = 0;
  const answer = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(status === 429 ? { 'retry-after': '0' } : {}),
    });
    response.end(JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    asked.push(url.pathname + url.search);
    if (failures > 0) {
      failures -= 1;
      answer(response, 429, { customCode: 'too_many_requests' });
      return;
    }
    const { status, body } = handle(url);
    answer(response, status, body);
  });
  const { url, close } = await listen(server);
  return { url, asked, failNext: (count) => (failures = count), close };
}

const VERIFIED_AT = '2024-05-06T07:08:09Z';

/** Serves Sourcify's API version 2 for the contracts of one chain. */
export function serveSourcify(chainId: number, contracts: readonly WorldContract[]): Promise<FakeServer> {
  const row = (index: number) => ({
    match: 'exact_match',
    creationMatch: 'exact_match',
    runtimeMatch: 'exact_match',
    chainId: String(chainId),
    address: getAddress(addressOf(contracts[index]!)),
    verifiedAt: VERIFIED_AT,
    matchId: String(1_000 + index),
  });
  return serve(({ pathname, searchParams }) => {
    if (pathname.startsWith('/v2/contracts/')) {
      if (pathname !== `/v2/contracts/${chainId}`)
        return {
          status: 404,
          body: { customCode: 'unsupported_chain', message: 'The chain is not supported' },
        };
      const afterMatchId = Number(searchParams.get('afterMatchId') ?? 0);
      const limit = Number(searchParams.get('limit') ?? 200);
      const results = contracts
        .map((_, index) => row(index))
        .filter((candidate) => Number(candidate.matchId) > afterMatchId);
      return { status: 200, body: { results: results.slice(0, limit) } };
    }
    const address = pathname.split('/').at(-1)?.toLowerCase();
    const index = contracts.findIndex((candidate) => addressOf(candidate) === address);
    const contract = contracts[index];
    if (contract === undefined)
      return { status: 404, body: { match: null, chainId: String(chainId), address } };
    const name = `${contract.path}:${contract.name}`;
    return {
      status: 200,
      body: {
        ...row(index),
        abi: contract.abi,
        metadata: JSON.parse(contract.metadata) as unknown,
        sources: contract.input.sources,
        compilation: {
          language: 'Solidity',
          compiler: 'solc',
          compilerVersion: contract.version,
          compilerSettings: contract.input.settings,
          name: contract.name,
          fullyQualifiedName: name,
        },
        deployment: {
          transactionHash: `0x${'7e'.repeat(32)}`,
          blockNumber: '1234567',
          transactionIndex: '3',
          deployer: `0x${'De'.repeat(20)}`,
        },
        creationBytecode: {
          onchainBytecode: `${contract.creation}0042`,
          transformations: [{ type: 'insert', reason: 'constructorArguments', offset: 9 }],
          transformationValues: { constructorArguments: '0x0042' },
        },
        runtimeBytecode: { onchainBytecode: contract.runtime, transformations: [], transformationValues: {} },
      },
    };
  });
}

/** Serves Blockscout's API version 2, in pages of `pageSize` contracts. */
export function serveBlockscout(contracts: readonly WorldContract[], pageSize: number): Promise<FakeServer> {
  return serve(({ pathname, searchParams }) => {
    if (pathname === '/api/v2/smart-contracts') {
      const from = Number(searchParams.get('items_count') ?? 0);
      const items = contracts.slice(from, from + pageSize).map((contract) => ({
        address: {
          hash: getAddress(addressOf(contract)),
          is_contract: true,
          is_verified: true,
          name: contract.name,
        },
        compiler_version: `v${contract.version}`,
        language: 'solidity',
        verified_at: VERIFIED_AT,
        coin_balance: null,
      }));
      const hasMore = from + pageSize < contracts.length;
      return {
        status: 200,
        body: {
          items,
          next_page_params: hasMore ? { items_count: from + pageSize, smart_contract_id: 7 } : null,
        },
      };
    }
    const address = pathname.startsWith('/api/v2/smart-contracts/')
      ? pathname.split('/').at(-1)?.toLowerCase()
      : '';
    const contract = contracts.find((candidate) => addressOf(candidate) === address);
    if (contract === undefined) return { status: 404, body: { message: 'Not found' } };
    const { [contract.path]: mainSource, ...others } = contract.input.sources;
    const optimizer = contract.input.settings['optimizer'] as { enabled: boolean; runs: number };
    return {
      status: 200,
      body: {
        is_verified: true,
        is_fully_verified: true,
        is_partially_verified: false,
        is_verified_via_sourcify: false,
        verified_twin_address_hash: null,
        verified_at: VERIFIED_AT,
        name: contract.name,
        file_path: contract.path,
        source_code: mainSource?.content,
        additional_sources: Object.entries(others).map(([file_path, { content }]) => ({
          file_path,
          source_code: content,
        })),
        compiler_version: `v${contract.version}`,
        compiler_settings: { ...contract.input.settings, outputSelection: { '*': { '*': ['abi'] } } },
        language: 'solidity',
        optimization_enabled: optimizer.enabled,
        optimization_runs: optimizer.runs,
        evm_version: contract.input.settings['evmVersion'],
        license_type: 'gnu_gpl_v3',
        abi: contract.abi,
        constructor_args: '0x0043',
        decoded_constructor_args: null,
        external_libraries: [],
        deployed_bytecode: contract.runtime,
        creation_bytecode: contract.creation,
      },
    };
  });
}
