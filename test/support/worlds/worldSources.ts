/**
 * Solidity sources as standard JSON inputs: real contracts from installed npm packages, and a few written for the
 * tests.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import type { StandardInput } from '../../../src/contracts/verify/standardJson';

/** The input of one compiler run. */
export interface SourceSet {
  readonly version: string;
  readonly input: StandardInput;
}

type Sources = Record<string, { content: string }>;

const MODULES = join(__dirname, '../../../node_modules');

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : listFiles(path);
    return entry.name.endsWith('.sol') ? [path] : [];
  });
}

/** Files of a package's folder under their import names. */
function load(folder: string, prefix: string, keep: (path: string) => boolean = () => true): Sources {
  const root = join(MODULES, folder);
  const files = listFiles(root).filter((file) => keep(relative(root, file)));
  return Object.fromEntries(
    files.map((file) => [prefix + relative(root, file), { content: readFileSync(file, 'utf8') }]),
  );
}

/** All of OpenZeppelin 5. */
function openZeppelin(): Sources {
  return load('openzeppelin-contracts-5', '@openzeppelin/contracts/');
}

const TOKEN_KINDS = [
  { base: 'ERC20Burnable', file: 'token/ERC20/extensions/ERC20Burnable.sol', more: '' },
  { base: 'ERC20Pausable', file: 'token/ERC20/extensions/ERC20Pausable.sol', more: '' },
  { base: 'ERC20Permit', file: 'token/ERC20/extensions/ERC20Permit.sol', more: ' ERC20Permit(_NAME)' },
  { base: 'ERC20FlashMint', file: 'token/ERC20/extensions/ERC20FlashMint.sol', more: '' },
] as const;

/** Number of tokens that tokenSources makes. */
const TOKENS = 40;

/** Typical tokens based on OpenZeppelin, one per file, each with a different supply and other extensions. */
function tokenSources(): Sources {
  const tokens: Sources = {};
  for (let index = 0; index < TOKENS; index += 1) {
    const kind = TOKEN_KINDS[index % TOKEN_KINDS.length];
    if (kind === undefined) continue;
    const name = `Pulse_Token_${index}`;
    const hook =
      kind.base === 'ERC20Pausable'
        ? `
    function _update(address from, address to, uint256 value) internal override(ERC20, ERC20Pausable) {
        super._update(from, to, value);
    }
`
        : '';
    tokens[`contracts/tokens/${name}.sol`] = {
      content: `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {${kind.base}} from "@openzeppelin/contracts/${kind.file}";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

string constant _NAME = "Pulse Token ${index}";

contract ${name} is ERC20, ${kind.base}, Ownable {
    uint256 public constant SUPPLY_CAP_${index} = ${(index + 1) * 1_000_000} ether;

    constructor(address owner_) ERC20(_NAME, "PT${index}")${kind.more} Ownable(owner_) {
        _mint(owner_, SUPPLY_CAP_${index} / ${index + 2});
    }
${hook}
    /// Tokens sent here by mistake go back.
    function rescue_tokens_${index}(ERC20 other, address to) external onlyOwner {
        other.transfer(to, other.balanceOf(address(this)));
    }
}
`,
    };
  }
  return tokens;
}

/** The EVM version of PulseChain's nodes. */
const SHANGHAI = { optimizer: { enabled: true, runs: 200 }, evmVersion: 'shanghai' };
/** Some OpenZeppelin contracts need a newer EVM version. */
const CANCUN = { ...SHANGHAI, evmVersion: 'cancun' };

const UNOPTIMIZED = { ...SHANGHAI, optimizer: { enabled: false, runs: 200 } };

/**
 * All sources and compiler settings from which verifiedWorld.ts makes its records. Large sets are compiled without the
 * optimizer, which would take long.
 */
export function listSourceSets(): SourceSet[] {
  const istanbul = { optimizer: { enabled: true, runs: 999_999 }, evmVersion: 'istanbul' };
  const hashless = { metadata: { bytecodeHash: 'none' } };
  const v3Core = load('@uniswap/v3-core/contracts', '@uniswap/v3-core/contracts/', notTest);
  const set = (version: string, sources: Sources, settings: Record<string, unknown>): SourceSet => {
    return { version, input: { language: 'Solidity', sources, settings } };
  };
  return [
    set('0.8.30', openZeppelin(), CANCUN),
    set('0.8.30', { ...onlyImported(openZeppelin(), tokenSources()), ...tokenSources() }, UNOPTIMIZED),
    set('0.5.16', load('@uniswap/v2-core/contracts', 'contracts/'), istanbul),
    set(
      '0.6.6',
      {
        ...load('@uniswap/v2-periphery/contracts', 'contracts/'),
        ...load('@uniswap/v2-core/contracts/interfaces', '@uniswap/v2-core/contracts/interfaces/'),
        ...load('@uniswap/lib/contracts', '@uniswap/lib/contracts/'),
      },
      istanbul,
    ),
    set('0.7.6', load('@uniswap/v3-core/contracts', 'contracts/', notTest), {
      ...istanbul,
      ...hashless,
      optimizer: { enabled: true, runs: 800 },
    }),
    set(
      '0.7.6',
      {
        ...load('@uniswap/v3-periphery/contracts', 'contracts/', notTest),
        ...v3Core,
        ...load('@uniswap/lib/contracts', '@uniswap/lib/contracts/', (path) => !path.includes('PairNamer')),
        ...load('@uniswap/v2-core/contracts/interfaces', '@uniswap/v2-core/contracts/interfaces/'),
        ...load('@openzeppelin/contracts', '@openzeppelin/contracts/', isUsedByPeriphery),
        'base64-sol/base64.sol': { content: readFileSync(join(MODULES, 'base64-sol/base64.sol'), 'utf8') },
      },
      { ...istanbul, ...hashless, optimizer: { enabled: false, runs: 200 } },
    ),
  ];
}

function notTest(path: string): boolean {
  return !/(?:^|\/)test\//.test(path);
}

function isUsedByPeriphery(path: string): boolean {
  return /^(?:GSN\/Context|token\/ERC(?:20|721)|introspection|utils|math|drafts|cryptography)(?:\/|\.)/.test(
    path,
  );
}

/** The files of `library` that `sources` import, directly or indirectly. */
export function onlyImported(library: Sources, sources: Sources): Sources {
  const imported: Sources = {};
  const visit = (path: string, content: string): void => {
    for (const [, target = ''] of content.matchAll(/(?:from|import)\s+["']([^"']+)["']/g)) {
      const importPath = target.startsWith('.') ? join(dirname(path), target) : target;
      const file = library[importPath];
      if (file === undefined || importPath in imported) continue;
      imported[importPath] = file;
      visit(importPath, file.content);
    }
  };
  for (const [path, { content }] of Object.entries(sources)) visit(path, content);
  return imported;
}

/**
 * Difficult cases for verification: an external library, a contract linked to the library, and a contract with
 * immutables.
 */
const TRICKY_SOURCE = `// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

library Sum_Library {
    function sum(uint256[] calldata values) external pure returns (uint256 total) {
        for (uint256 i = 0; i < values.length; i++) total += values[i];
    }
}

contract Linked {
    function sumOf(uint256[] calldata values) external pure returns (uint256) {
        return Sum_Library.sum(values);
    }
}

contract Immutable_Vault {
    address public immutable owner;
    uint256 public immutable cap;
    string public label;

    constructor(address owner_, uint256 cap_, string memory label_) {
        owner = owner_;
        cap = cap_;
        label = label_;
    }

    function room(uint256 used) external view returns (uint256) {
        return used > cap ? 0 : cap - used;
    }
}

contract Vault_Maker {
    event Made(address vault);

    function make(uint256 cap_) external returns (address vault) {
        vault = address(new Immutable_Vault(msg.sender, cap_, "made"));
        emit Made(vault);
    }
}
`;

export const TRICKY: SourceSet = {
  version: '0.8.30',
  input: {
    language: 'Solidity',
    sources: { 'contracts/Tricky.sol': { content: TRICKY_SOURCE } },
    settings: SHANGHAI,
  },
};
