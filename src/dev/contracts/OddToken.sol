// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {DevToken} from "./DevToken.sol";

/// A token whose balances work and whose metadata does not: what indexers meet in the wild.
contract OddToken is DevToken {
    uint256 internal constant BYTES32_TEXT = 1;
    uint256 internal constant REVERTING_SYMBOL = 2;
    uint256 internal constant REVERTING_DECIMALS = 3;
    uint256 internal constant HUGE_SYMBOL = 4;
    uint256 internal constant GAS_BOMB = 5;
    uint256 internal constant NO_METADATA = 6;

    uint256 internal immutable oddity;

    constructor(string memory name_, string memory symbol_, uint256 decimals_, uint256 supply, address owner, uint256 oddity_)
        DevToken(name_, symbol_, decimals_, supply, owner, 0)
    {
        oddity = oddity_;
    }

    function name() external view override returns (string memory) {
        require(oddity != NO_METADATA);
        if (oddity == BYTES32_TEXT) returnWord(bytes32(bytes(text)));
        return text;
    }

    function symbol() external view override returns (string memory) {
        require(oddity != REVERTING_SYMBOL && oddity != NO_METADATA, "no symbol");
        if (oddity == BYTES32_TEXT) returnWord(bytes32(bytes(ticker)));
        if (oddity == HUGE_SYMBOL) return repeated("A", 200_000);
        if (oddity == GAS_BOMB) burnAllGas();
        return ticker;
    }

    function decimals() external view override returns (uint256) {
        require(oddity != REVERTING_DECIMALS && oddity != NO_METADATA, "no decimals");
        return places;
    }

    function returnWord(bytes32 word) private pure {
        assembly {
            mstore(0, word)
            return(0, 32)
        }
    }

    function repeated(bytes1 letter, uint256 length) private pure returns (string memory) {
        bytes memory result = new bytes(length);
        uint256 word = uint256(uint8(letter)) * (type(uint256).max / 255);
        assembly {
            for { let at := 0 } lt(at, length) { at := add(at, 32) } { mstore(add(add(result, 32), at), word) }
        }
        return string(result);
    }

    function burnAllGas() private pure {
        for (uint256 i = 1; i != 0; i++) {}
    }
}
