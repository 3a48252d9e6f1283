/**
 * Solidity contracts for tests of proxies and upgrades: two versions of a store, and proxies that npm packages do not
 * contain.
 */
import type { SourceSet } from '../worlds/worldSources';

const SLOT_1822 = '0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7';
const SLOT_LEGACY = '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3';

const DELEGATE = `
    calldatacopy(0, 0, calldatasize())
    let done := delegatecall(gas(), target, 0, calldatasize(), 0, 0)
    returndatacopy(0, 0, returndatasize())
    if iszero(done) { revert(0, returndatasize()) }
    return(0, returndatasize())`;

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

contract StoreV1 {
  event Stored(address who, uint256 oldName);
  function store(uint256 value) external { emit Stored(msg.sender, value); }
}

contract StoreV2 {
  event Stored(address who, uint256 newName);
  function store(uint256 value) external { emit Stored(msg.sender, value); }
}

// / A proxy that emits no event. Only its storage slot shows the implementation.
contract Proxiable {
  constructor(address target) { assembly { sstore(${SLOT_1822}, target) } }
  fallback() external { assembly { let target := sload(${SLOT_1822}) ${DELEGATE} } }
}

// / A proxy like the proxy of USDC: the address in its Upgraded event is not indexed.
contract LegacyProxy {
  event Upgraded(address implementation);
  constructor(address target) { assembly { sstore(${SLOT_LEGACY}, target) } emit Upgraded(target); }
  function upgradeTo(address target) external { assembly { sstore(${SLOT_LEGACY}, target) } emit Upgraded(target); }
  fallback() external { assembly { let target := sload(${SLOT_LEGACY}) ${DELEGATE} } }
}

contract Diamond {
  struct FacetCut { address facet; uint8 action; bytes4[] selectors; }
  event DiamondCut(FacetCut[] cuts, address init, bytes data);
  address facet;
  function cut(address target, uint8 action, bytes4[] calldata selectors) external {
    facet = target;
    FacetCut[] memory cuts = new FacetCut[](1);
    cuts[0] = FacetCut(target, action, selectors);
    emit DiamondCut(cuts, address(0), "");
  }
  function facetAddresses() external view returns (address[] memory list) {
    list = new address[](1);
    list[0] = facet;
  }
  fallback() external { address target = facet; assembly { ${DELEGATE} } }
}
`;

export const PROXY_SOURCES: SourceSet = {
  version: '0.8.30+commit.73712a01',
  input: {
    language: 'Solidity',
    sources: { 'Proxies.sol': { content: SOURCE } },
    settings: { optimizer: { enabled: true, runs: 200 }, evmVersion: 'shanghai' },
  },
};
