/** A verified contract for tests of the explorer's pages: exact integers, nested inputs, errors and hostile texts. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { AbiCoder, getAddress, id } from 'ethers';

import { field, openDevRpc } from '../../../src/dev/node/devRpc';
import type { Hex } from '../../../src/domain/hex';
import { eventually } from '../eventually';
import type { PageWorld } from './pageWorld';
import { compileSet, type WorldContract } from './verifiedWorld';

/** A text that would run as code if it reached innerHTML. */
export const HOSTILE = '<img src=x onerror="window.hurt = 1">';
export const SHELF_PATH = 'contracts/Shelf.sol';
export const NUMBERS_PATH = 'contracts/lib/Numbers.sol';

const NUMBERS = `// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/* ${HOSTILE} */
library Numbers {
    uint256 internal constant MAX = type(uint256).max;

    function sum(uint256[] memory values) internal pure returns (uint256 total) {
        for (uint256 i = 0; i < values.length; i++) {
            total += values[i];
        }
    }
}
`;

const IMPORT = "import {Numbers} from './lib/Numbers.sol';";
const SHELF = `// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

${IMPORT}

contract Shelf {
    struct Order {
        address maker;
        uint256[] amounts;
    }

    error TooLow(uint256 wanted, uint256 got);

    event Stored(address indexed maker, uint256 total, string note);

    string public note;
    uint256 public total;

    function greatest() external pure returns (uint256) {
        return Numbers.MAX;
    }

    function least() external pure returns (int256) {
        return type(int256).min;
    }

    function echo(uint256 value) external pure returns (uint256) {
        return value;
    }

    function small(uint8 value, address owner, bytes4 mark, bool isOpen) external pure returns (uint8, address, bytes4, bool) {
        return (value, owner, mark, isOpen);
    }

    function sumOf(Order calldata order) external pure returns (address maker, uint256 sum, Order memory same) {
        return (order.maker, Numbers.sum(order.amounts), order);
    }

    function check(uint256 value) external pure returns (bool) {
        if (value < 10) revert TooLow(10, value);
        require(value < 100, 'too high');
        return true;
    }

    function store(Order calldata order, string calldata text) external payable {
        total = Numbers.sum(order.amounts);
        note = text;
        emit Stored(order.maker, total, text);
    }

    function fail() external pure {
        revert('never');
    }
}
`;

const SOURCES = { [SHELF_PATH]: { content: SHELF }, [NUMBERS_PATH]: { content: NUMBERS } };

/** The line of the sources with this text, counted from 1. */
export function lineOf(path: string, text: string): number {
  const content = path === SHELF_PATH ? SHELF : NUMBERS;
  return content.split('\n').findIndex((line) => line.includes(text)) + 1;
}

export interface Shelf {
  readonly address: Hex;
  readonly owner: Hex;
  /** The transaction that created the contract. */
  readonly creation: Hex;
  /** A minimal proxy (EIP-1167) of the contract, with its own storage. */
  readonly clone: Hex;
  /** A call of `store` with a hostile text and a value of 1 wei. */
  readonly stored: Hex;
  /** A transaction to a wallet whose input is one byte. */
  readonly short: Hex;
  /** A call that failed. */
  readonly failed: Hex;
}

/** Amounts of the call of `store`. */
export const AMOUNTS: readonly bigint[] = [2n ** 255n, 2n ** 255n - 1n];

/** The code that creates a minimal proxy, https://eips.ethereum.org/EIPS/eip-1167, around the address. */
const CLONE_START = '0x3d602d80600a3d3981f3363d3d373d3d3d363d73';
const CLONE_END = '5af43d82803e903d91602b57fd5bf3';

type Verifier = Pick<PageWorld, 'json' | 'importSources'>;

/** Deploys the contract on the chain, calls it, and imports its source. */
export async function openShelf(world: Verifier & Pick<PageWorld, 'nodeUrl'>): Promise<Shelf> {
  const rpc = openDevRpc(world.nodeUrl);
  try {
    const input = {
      language: 'Solidity' as const,
      sources: SOURCES,
      settings: { optimizer: { enabled: true, runs: 200 }, evmVersion: 'shanghai' },
    };
    const compiled = await compileSet({ version: '0.8.30', input });
    const contract = compiled.find(({ name }) => name === 'Shelf')!;
    const [owner] = (await rpc.call('eth_accounts')) as Hex[];
    const send = async (call: Readonly<Record<string, string>>): Promise<[hash: Hex, receipt: unknown]> => {
      const hash = (await rpc.call('eth_sendTransaction', [
        { from: owner, gas: '0x2dc6c0', ...call },
      ])) as Hex;
      // The trader of the chain mines a block every few seconds.
      const receipt = await eventually(
        () => rpc.call('eth_getTransactionReceipt', [hash]).catch(() => null),
        (receipt) => receipt !== null,
      );
      return [hash, receipt];
    };
    const [creation, created] = await send({ data: contract.creation });
    const address = field(created, 'contractAddress') as Hex;
    const [, cloned] = await send({ data: `${CLONE_START}${address.slice(2)}${CLONE_END}` });
    const clone = field(cloned, 'contractAddress') as Hex;
    const values = [[owner, AMOUNTS], HOSTILE];
    const encoded = AbiCoder.defaultAbiCoder().encode(['tuple(address,uint256[])', 'string'], values);
    const selector = id('store((address,uint256[]),string)').slice(0, 10);
    const [stored] = await send({ to: address, data: selector + encoded.slice(2), value: '0x1' });
    const [failed] = await send({ to: address, data: id('fail()').slice(0, 10) });
    const [short] = await send({ to: CLONE_START.padEnd(42, '0').slice(0, 42), data: '0x12' });
    await verify(world, contract, address);
    return { address, owner: owner!, creation, clone, stored, short, failed };
  } finally {
    await rpc.close();
  }
}

/** Imports the sources with the program. Compiling them again at the program's low priority would take minutes. */
async function verify(world: Verifier, contract: WorldContract, address: Hex): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'candlehouse-shelf-'));
  try {
    const folder = join(root, 'contracts', 'full_match', '369', getAddress(address));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'metadata.json'), contract.metadata);
    for (const [path, { content }] of Object.entries(SOURCES)) {
      const file = join(folder, 'sources', path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
    await world.importSources(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  // The program reads imported contracts at intervals.
  await eventually(
    () => world.json(`/api/v1/contracts/${address}`),
    (answer) => field(field(answer, 'data'), 'verified') === true,
  );
}
