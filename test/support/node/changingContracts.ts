/** Solidity contracts for tests of facts that change without a log: proxies, beacons and code at one address. */
import type { SourceSet } from '../worlds/worldSources';

const DELEGATE = `
    calldatacopy(0, 0, calldatasize())
    let done := delegatecall(gas(), target, 0, calldatasize(), 0, 0)
    returndatacopy(0, 0, returndatasize())
    if iszero(done) { revert(0, returndatasize()) }
    return(0, returndatasize())`;

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

// A proxy like that of Safe: it answers masterCopy() itself, and its owner replaces slot 0 without an event.
contract SafeLike {
  address internal singleton;
  constructor(address target) { singleton = target; }
  fallback() external payable { assembly {
    let target := and(sload(0), 0xffffffffffffffffffffffffffffffffffffffff)
    if eq(shr(224, calldataload(0)), 0xa619486e) { mstore(0, target) return(0, 0x20) }
    if eq(shr(224, calldataload(0)), 0x7de7edef) { sstore(0, calldataload(4)) return(0, 0) }
    ${DELEGATE} } }
}

// A proxy with its implementation beside a flag, in a slot that no standard names.
contract PackedProxy {
  bool started;
  address implementation;
  constructor(address target) { started = true; implementation = target; }
  function changeMasterCopy(address target) external { implementation = target; }
  fallback() external { address target = implementation; assembly { ${DELEGATE} } }
}

contract QuietBeacon {
  address public implementation;
  constructor(address target) { implementation = target; }
  function changeMasterCopy(address target) external { implementation = target; }
}

interface Tells { function implementation() external view returns (address); }

// A proxy whose beacon is part of its code.
contract BeaconUser {
  address immutable beacon;
  constructor(address told) { beacon = told; }
  fallback() external { address target = Tells(beacon).implementation(); assembly { ${DELEGATE} } }
}

// A diamond that emits no DiamondCut.
contract QuietDiamond {
  mapping(bytes4 => address) facets;
  address[] list;
  function put(bytes4 selector, address facet) external { facets[selector] = facet; delete list; list.push(facet); }
  function facetAddresses() external view returns (address[] memory) { return list; }
  fallback() external { address target = facets[msg.sig]; assembly { ${DELEGATE} } }
}

contract MortalV1 {
  event Stored(address who, uint256 oldName);
  function store(uint256 value) external { emit Stored(msg.sender, value); }
  function kill() external { selfdestruct(payable(msg.sender)); }
}

contract MortalV2 {
  event Stored(address who, uint256 newName);
  function store(uint256 value) external { emit Stored(msg.sender, value); }
  function kill() external { selfdestruct(payable(msg.sender)); }
}

// Creates different code at one address.
contract Forge {
  bytes public next;
  function make(bytes calldata code) external { next = code; new Morph{salt: 0}(); }
}

contract Morph {
  constructor() { bytes memory code = Forge(msg.sender).next(); assembly { return(add(code, 32), mload(code)) } }
}
`;

export const CHANGING_SOURCES: SourceSet = {
  version: '0.8.30+commit.73712a01',
  input: {
    language: 'Solidity',
    sources: { 'Changing.sol': { content: SOURCE } },
    settings: { optimizer: { enabled: true, runs: 200 }, evmVersion: 'shanghai' },
  },
};
