// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {Both, minus, mulDiv, pack, plus, priceOf, Token} from "../liquidityBook/LiquidityBook.sol";

struct PoolKey {
    address currency0;
    address currency1;
    address hooks;
    address poolManager;
    uint24 fee;
    bytes32 parameters;
}

uint24 constant DYNAMIC_FEE = 0x800000;
uint24 constant OVERRIDE_FEE = 0x400000;

/// Contracts for tests: they emit the events of PancakeSwap Infinity in the published order. The vault holds the tokens of all
/// pools of both managers.
contract Vault {
    receive() external payable {}

    /// Pays `delta` to `trader`, or takes -delta from it. The value of a call for the native coin is what the trader offers.
    function settle(address currency, int256 delta, address trader) external payable {
        if (currency == address(0)) {
            (bool paid,) = trader.call{value: uint256(int256(msg.value) + delta)}("");
            require(paid, "native");
        } else if (delta < 0) {
            Erc20(currency).transferFrom(trader, address(this), uint256(-delta));
        } else if (delta > 0) {
            Erc20(currency).transfer(trader, uint256(delta));
        }
    }
}

interface Erc20 is Token {
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
    function approve(address spender, uint256 amount) external returns (bool);
}

/// A hook that chooses the fees of single swaps, or that of the pool, or takes a tenth of each input.
contract Hook {
    uint24 private chosen;

    receive() external payable {}

    function choose(uint24 fee) external {
        chosen = fee;
    }

    function update(Manager manager, PoolKey calldata key, uint24 fee) external {
        manager.updateDynamicLPFee(key, fee);
    }

    function beforeSwap(int256 amount) external view returns (uint256 taken, uint24 fee) {
        return (amount < 0 ? uint256(-amount) / 10 : 0, chosen);
    }
}

/// The storage of the managers is that of the published ones: the fees are in slot 2.
abstract contract Manager {
    Vault public immutable vault;
    uint256[2] private owner;
    mapping(address => uint256) public protocolFeesAccrued;
    uint256 private controller;

    event DynamicLPFeeUpdated(bytes32 indexed id, uint24 dynamicLPFee);
    event ProtocolFeeUpdated(bytes32 indexed id, uint24 protocolFee);

    constructor(Vault vault_) {
        vault = vault_;
    }

    function setLpFee(bytes32 id, uint24 fee) internal virtual;
    function setFeeOfProtocol(bytes32 id, uint24 fee) internal virtual;

    function updateDynamicLPFee(PoolKey memory key, uint24 fee) external {
        require(key.fee == DYNAMIC_FEE && msg.sender == key.hooks, "hook");
        setLpFee(idOf(key), fee);
        emit DynamicLPFeeUpdated(idOf(key), fee);
    }

    function setProtocolFee(PoolKey memory key, uint24 fee) external {
        setFeeOfProtocol(idOf(key), fee);
        emit ProtocolFeeUpdated(idOf(key), fee);
    }

    function extsload(bytes32 slot) external view returns (bytes32 word) {
        assembly ("memory-safe") {
            word := sload(slot)
        }
    }

    function extsload(bytes32[] calldata slots) external view returns (bytes32[] memory words) {
        words = new bytes32[](slots.length);
        for (uint256 i = 0; i < slots.length; i++) {
            bytes32 slot = slots[i];
            bytes32 word;
            assembly ("memory-safe") {
                word := sload(slot)
            }
            words[i] = word;
        }
    }

    function idOf(PoolKey memory key) internal pure returns (bytes32) {
        return keccak256(abi.encode(key));
    }

    function stepOf(PoolKey memory key) internal pure returns (uint24) {
        return uint24(uint256(key.parameters) >> 16);
    }

    function firstFee(PoolKey memory key) internal view returns (uint24) {
        require(key.poolManager == address(this) && key.currency0 < key.currency1, "key");
        return key.fee == DYNAMIC_FEE ? 0 : key.fee;
    }

    function protocolFeeOf(uint24 both, bool zeroForOne) internal pure returns (uint16) {
        return uint16(zeroForOne ? both & 0xfff : both >> 12);
    }

    /// Permission 6: the hook is asked before each swap. Permission 10: it takes a part of the amount.
    function askHook(PoolKey memory key, bool zeroForOne, int256 amount) internal returns (int256 rest, uint24 fee) {
        rest = amount;
        if ((uint256(key.parameters) >> 6) & 1 == 0) return (rest, 0);
        uint256 taken;
        (taken, fee) = Hook(payable(key.hooks)).beforeSwap(amount);
        if ((uint256(key.parameters) >> 10) & 1 == 0) return (rest, fee);
        address currency = zeroForOne ? key.currency0 : key.currency1;
        vault.settle{value: currency == address(0) ? taken : 0}(currency, -int256(taken), msg.sender);
        vault.settle(currency, int256(taken), key.hooks);
        rest += int256(taken);
    }

    function settleBoth(PoolKey memory key, int256 delta0, int256 delta1) internal {
        vault.settle{value: address(this).balance}(key.currency0, delta0, msg.sender);
        vault.settle(key.currency1, delta1, msg.sender);
    }
}

/// Follows the published formulas of the BinPoolManager. The next bin of the tree is found by trying each id.
contract BinPoolManager is Manager {
    uint256 private constant PIPS = 1e6;
    uint256 private constant LOCKED_SHARES = 1e3;

    struct State {
        uint24 activeId;
        uint24 protocolFee;
        uint24 lpFee;
        uint24 binStep;
        mapping(uint256 => bytes32) packed;
        mapping(uint256 => uint256) supply;
        mapping(address => mapping(uint256 => uint256)) shares;
        /// The bins with liquidity: bits of words. Each bit of a level stands for a word of the next one.
        uint256 level0;
        mapping(uint256 => uint256) level1;
        mapping(uint256 => uint256) level2;
        Both reserves;
    }

    uint256 private minBinShareForDonate;
    mapping(bytes32 => State) private pools;
    mapping(bytes32 => PoolKey) public poolIdToPoolKey;

    event Initialize(
        bytes32 indexed id,
        address indexed currency0,
        address indexed currency1,
        address hooks,
        uint24 fee,
        bytes32 parameters,
        uint24 activeId
    );
    event Swap(
        bytes32 indexed id,
        address indexed sender,
        int128 amount0,
        int128 amount1,
        uint24 activeId,
        uint24 fee,
        uint16 protocolFee
    );
    event Mint(
        bytes32 indexed id,
        address indexed sender,
        uint256[] ids,
        bytes32 salt,
        bytes32[] amounts,
        bytes32 compositionFeeAmount,
        bytes32 feeAmountToProtocol
    );
    event Burn(bytes32 indexed id, address indexed sender, uint256[] ids, bytes32 salt, bytes32[] amounts);
    event Donate(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint24 binId);

    constructor(Vault vault_) Manager(vault_) {}

    function setLpFee(bytes32 id, uint24 fee) internal override {
        pools[id].lpFee = fee;
    }

    function setFeeOfProtocol(bytes32 id, uint24 fee) internal override {
        pools[id].protocolFee = fee;
    }

    function initialize(PoolKey memory key, uint24 activeId) external {
        State storage pool = pools[idOf(key)];
        (pool.activeId, pool.lpFee, pool.binStep) = (activeId, firstFee(key), stepOf(key));
        poolIdToPoolKey[idOf(key)] = key;
        emit Initialize(idOf(key), key.currency0, key.currency1, key.hooks, key.fee, key.parameters, activeId);
    }

    function getSlot0(bytes32 id) external view returns (uint24 activeId, uint24 protocolFee, uint24 lpFee) {
        return (pools[id].activeId, pools[id].protocolFee, pools[id].lpFee);
    }

    function getBin(bytes32 id, uint24 binId)
        external
        view
        returns (uint256 x, uint256 y, uint256 liquidity, uint256 shares)
    {
        Both memory bin = binOf(pools[id], binId);
        return (bin.x, bin.y, value(bin, priceOf(pools[id].binStep, binId)), pools[id].supply[binId]);
    }

    function getPrice(bytes32 id, uint24 binId) external view returns (uint256) {
        return priceOf(pools[id].binStep, binId);
    }

    function binOf(State storage pool, uint256 id) private view returns (Both memory) {
        uint256 packed = uint256(pool.packed[id]);
        return Both(uint128(packed), packed >> 128);
    }

    function addToTree(State storage pool, uint256 id) private {
        pool.level2[id >> 8] |= 1 << (id & 255);
        pool.level1[id >> 16] |= 1 << ((id >> 8) & 255);
        pool.level0 |= 1 << (id >> 16);
    }

    function removeFromTree(State storage pool, uint256 id) private {
        pool.level2[id >> 8] &= ~(1 << (id & 255));
        if (pool.level2[id >> 8] == 0) pool.level1[id >> 16] &= ~(1 << ((id >> 8) & 255));
        if (pool.level1[id >> 16] == 0) pool.level0 &= ~(1 << (id >> 16));
    }

    /// The sum of all bins.
    function getReserves(bytes32 id) external view returns (uint256 x, uint256 y) {
        return (pools[id].reserves.x, pools[id].reserves.y);
    }

    function setBin(State storage pool, uint256 id, Both memory bin) private {
        pool.reserves = minus(plus(pool.reserves, bin), binOf(pool, id));
        pool.packed[id] = pack(bin);
    }

    struct Trade {
        bool swapForY;
        bool exactIn;
        uint24 id;
        uint24 fee;
        uint16 ofProtocol;
        /// Of the amount that the trader names, and the sum of the other one.
        uint256 left;
        uint256 other;
        uint256 kept;
    }

    function swap(PoolKey memory key, bool swapForY, int128 amount) external payable returns (int256, int256) {
        State storage pool = pools[idOf(key)];
        (int256 rest, uint24 chosen) = askHook(key, swapForY, amount);
        Trade memory trade;
        trade.swapForY = swapForY;
        trade.exactIn = rest < 0;
        trade.id = pool.activeId;
        trade.ofProtocol = protocolFeeOf(pool.protocolFee, swapForY);
        uint256 lpFee = chosen & OVERRIDE_FEE != 0 ? chosen - OVERRIDE_FEE : pool.lpFee;
        trade.fee = uint24(trade.ofProtocol + lpFee - (trade.ofProtocol * lpFee) / PIPS);
        trade.left = uint256(trade.exactIn ? -rest : rest);
        while (true) {
            if (reserveOut(pool, trade) > 0) tradeInBin(pool, trade);
            if (trade.left == 0) break;
            uint256 tries = 0;
            do {
                require(tries++ < 400, "out of liquidity");
                trade.id = swapForY ? trade.id - 1 : trade.id + 1;
            } while ((pool.level2[trade.id >> 8] >> (trade.id & 255)) & 1 == 0);
        }
        require(trade.other > 0, "amount");
        pool.activeId = trade.id;
        protocolFeesAccrued[swapForY ? key.currency0 : key.currency1] += trade.kept;
        int256 other = trade.exactIn ? int256(trade.other) : -int256(trade.other);
        (int256 delta0, int256 delta1) = swapForY == trade.exactIn ? (rest, other) : (other, rest);
        emit Swap(idOf(key), msg.sender, int128(delta0), int128(delta1), trade.id, trade.fee, trade.ofProtocol);
        settleBoth(key, delta0, delta1);
        return (delta0, delta1);
    }

    function reserveOut(State storage pool, Trade memory trade) private view returns (uint256) {
        Both memory bin = binOf(pool, trade.id);
        return trade.swapForY ? bin.y : bin.x;
    }

    function tradeInBin(State storage pool, Trade memory trade) private {
        uint256 price = priceOf(pool.binStep, trade.id);
        uint256 out = reserveOut(pool, trade);
        if (!trade.exactIn && out > trade.left) out = trade.left;
        uint256 paid =
            trade.swapForY ? mulDiv(out, 2 ** 128, price, true) : mulDiv(out, price, 2 ** 128, true);
        uint256 fee = (paid * trade.fee + PIPS - trade.fee - 1) / (PIPS - trade.fee);
        paid += fee;
        if (trade.exactIn && trade.left < paid) {
            paid = trade.left;
            fee = (paid * trade.fee + PIPS - 1) / PIPS;
            uint256 most = out;
            out = trade.swapForY
                ? mulDiv(paid - fee, price, 2 ** 128, false)
                : mulDiv(paid - fee, 2 ** 128, price, false);
            if (out > most) out = most;
        }
        if (paid == 0) return;
        (trade.left, trade.other) = trade.exactIn
            ? (trade.left - paid, trade.other + out)
            : (trade.left - out, trade.other + paid);
        uint256 kept = trade.fee == 0 ? 0 : (fee * trade.ofProtocol) / trade.fee;
        trade.kept += kept;
        Both memory bin = binOf(pool, trade.id);
        setBin(
            pool,
            trade.id,
            trade.swapForY ? Both(bin.x + paid - kept, bin.y - out) : Both(bin.x - out, bin.y + paid - kept)
        );
    }

    function mint(PoolKey memory key, uint256[] calldata ids, Both[] calldata amounts) external payable {
        State storage pool = pools[idOf(key)];
        bytes32[] memory reached = new bytes32[](ids.length);
        Both[3] memory sums;
        for (uint256 i = 0; i < ids.length; i++) {
            Both memory given = amounts[i];
            Both memory fee;
            Both memory forProtocol;
            (given, fee, forProtocol) = mintBin(pool, ids[i], given);
            reached[i] = pack(minus(given, forProtocol));
            sums = [plus(sums[0], given), plus(sums[1], fee), plus(sums[2], forProtocol)];
        }
        protocolFeesAccrued[key.currency0] += sums[2].x;
        protocolFeesAccrued[key.currency1] += sums[2].y;
        emit Mint(idOf(key), msg.sender, ids, bytes32(0), reached, pack(sums[1]), pack(sums[2]));
        settleBoth(key, -int256(sums[0].x), -int256(sums[0].y));
    }

    function value(Both memory both, uint256 price) private pure returns (uint256) {
        return price * both.x + (both.y << 128);
    }

    /// What the depositor pays, and the parts of it that are fees.
    function mintBin(State storage pool, uint256 id, Both memory given)
        private
        returns (Both memory, Both memory fee, Both memory forProtocol)
    {
        uint256 price = priceOf(pool.binStep, uint24(id));
        Both memory bin = binOf(pool, id);
        uint256 supply = pool.supply[id];
        uint256 shares = value(given, price);
        if (supply > 0 && value(bin, price) > 0) {
            shares = mulDiv(shares, supply, value(bin, price), false);
            trim(given, mulDiv(shares, value(bin, price), supply, true), price);
        }
        if (id == pool.activeId) {
            (fee, forProtocol) = compositionFee(pool, plus(bin, given), given, shares, supply + shares);
            if (fee.x + fee.y > 0)
                shares = mulDiv(
                    value(minus(given, fee), price), supply, value(plus(bin, minus(fee, forProtocol)), price), false
                );
        } else {
            require((id < pool.activeId ? given.x : given.y) == 0, "side");
        }
        require(shares > 0, "shares");
        if (supply <= LOCKED_SHARES) addToTree(pool, id);
        setBin(pool, id, plus(bin, minus(given, forProtocol)));
        pool.supply[id] += shares;
        pool.shares[msg.sender][id] += supply == 0 ? shares - LOCKED_SHARES : shares;
        return (given, fee, forProtocol);
    }

    /// Leaves out units that give no shares.
    function trim(Both memory given, uint256 used, uint256 price) private pure {
        uint256 rest = value(given, price);
        rest = rest > used ? rest - used : 0;
        uint256 y = rest >> 128 > given.y ? given.y : rest >> 128;
        given.y -= y;
        uint256 x = (rest - (y << 128)) / price;
        given.x -= x > given.x ? given.x : x;
    }

    function compositionFee(State storage pool, Both memory bin, Both memory given, uint256 shares, uint256 supply)
        private
        view
        returns (Both memory fee, Both memory forProtocol)
    {
        if (shares == 0) return (fee, forProtocol);
        uint256 x = mulDiv(shares, bin.x, supply, false);
        uint256 y = mulDiv(shares, bin.y, supply, false);
        if (x > given.x) {
            (fee.y, forProtocol.y) = composed(pool, false, given.y - y);
        } else if (y > given.y) {
            (fee.x, forProtocol.x) = composed(pool, true, given.x - x);
        }
    }

    function composed(State storage pool, bool zeroForOne, uint256 swapped)
        private
        view
        returns (uint256 fee, uint256 forProtocol)
    {
        uint256 own = protocolFeeOf(pool.protocolFee, zeroForOne);
        uint256 rate = own + pool.lpFee - (own * pool.lpFee) / PIPS;
        return ((swapped * rate * (rate + PIPS)) / 1e12, (swapped * own * (own + PIPS)) / 1e12);
    }

    /// Burns a part of the caller's shares of each bin, in thousandths.
    function burn(PoolKey memory key, uint256[] memory ids, uint256 part) external {
        uint256[] memory all = new uint256[](ids.length);
        for (uint256 i = 0; i < ids.length; i++) all[i] = (sharesOf(idOf(key), msg.sender, ids[i]) * part) / 1000;
        burnShares(key, ids, all);
    }

    function sharesOf(bytes32 id, address owner, uint256 bin) public view returns (uint256) {
        return pools[id].shares[owner][bin];
    }

    function burnShares(PoolKey memory key, uint256[] memory ids, uint256[] memory all)
        public
        returns (uint256, uint256)
    {
        State storage pool = pools[idOf(key)];
        bytes32[] memory amounts = new bytes32[](ids.length);
        Both memory sum;
        for (uint256 i = 0; i < ids.length; i++) {
            uint256 shares = all[i];
            if (shares == 0) continue;
            Both memory bin = binOf(pool, ids[i]);
            uint256 supply = pool.supply[ids[i]];
            Both memory out = Both(mulDiv(shares, bin.x, supply, false), mulDiv(shares, bin.y, supply, false));
            setBin(pool, ids[i], minus(bin, out));
            pool.supply[ids[i]] -= shares;
            if (pool.supply[ids[i]] == LOCKED_SHARES) removeFromTree(pool, ids[i]);
            pool.shares[msg.sender][ids[i]] -= shares;
            sum = plus(sum, out);
            amounts[i] = pack(out);
        }
        emit Burn(idOf(key), msg.sender, ids, bytes32(0), amounts);
        vault.settle(key.currency0, int256(sum.x), msg.sender);
        vault.settle(key.currency1, int256(sum.y), msg.sender);
        return (sum.x, sum.y);
    }

    function donate(PoolKey memory key, uint128 amount0, uint128 amount1) external payable {
        State storage pool = pools[idOf(key)];
        setBin(pool, pool.activeId, plus(binOf(pool, pool.activeId), Both(amount0, amount1)));
        settleBoth(key, -int256(uint256(amount0)), -int256(uint256(amount1)));
        emit Donate(idOf(key), msg.sender, -int128(amount0), -int128(amount1), pool.activeId);
    }
}

/// Gives fungible shares of the bins of all pools. It pays with its own tokens.
contract BinPositionManager {
    BinPoolManager public immutable manager;
    mapping(address => mapping(uint256 => uint256)) public balanceOf;

    event TransferBatch(address indexed sender, address indexed from, address indexed to, uint256[] ids, uint256[] amounts);

    constructor(BinPoolManager manager_) {
        manager = manager_;
    }

    receive() external payable {}

    function approve(Erc20 token) external {
        token.approve(address(manager.vault()), type(uint256).max);
    }

    function numbersOf(PoolKey memory key, uint256[] memory bins) public pure returns (uint256[] memory ids) {
        ids = new uint256[](bins.length);
        for (uint256 i = 0; i < bins.length; i++) {
            ids[i] = uint256(keccak256(abi.encode(keccak256(abi.encode(key)), bins[i])));
        }
    }

    function sharesOf(PoolKey memory key, uint256 bin) private view returns (uint256) {
        return manager.sharesOf(keccak256(abi.encode(key)), address(this), bin);
    }

    function add(PoolKey memory key, uint256[] calldata bins, Both[] calldata amounts, address to) external payable {
        uint256[] memory shares = new uint256[](bins.length);
        for (uint256 i = 0; i < bins.length; i++) shares[i] = sharesOf(key, bins[i]);
        manager.mint{value: msg.value}(key, bins, amounts);
        uint256[] memory ids = numbersOf(key, bins);
        for (uint256 i = 0; i < bins.length; i++) {
            shares[i] = sharesOf(key, bins[i]) - shares[i];
            balanceOf[to][ids[i]] += shares[i];
        }
        emit TransferBatch(msg.sender, address(0), to, ids, shares);
    }

    function remove(PoolKey memory key, address from, uint256[] memory bins, uint256[] memory shares)
        external
        returns (uint256, uint256)
    {
        uint256[] memory ids = numbersOf(key, bins);
        for (uint256 i = 0; i < bins.length; i++) balanceOf[from][ids[i]] -= shares[i];
        emit TransferBatch(msg.sender, from, address(0), ids, shares);
        return manager.burnShares(key, bins, shares);
    }

    function batchTransferFrom(address from, address to, uint256[] calldata ids, uint256[] calldata shares) external {
        for (uint256 i = 0; i < ids.length; i++) {
            balanceOf[from][ids[i]] -= shares[i];
            balanceOf[to][ids[i]] += shares[i];
        }
        emit TransferBatch(msg.sender, from, to, ids, shares);
    }
}

/// Holds the tokens that the tests trade with, and makes any call.
contract Trader {
    receive() external payable {}

    function run(address to, uint256 value, bytes calldata data) external {
        (bool ok, bytes memory result) = to.call{value: value}(data);
        assembly ("memory-safe") {
            if iszero(ok) { revert(add(result, 32), mload(result)) }
            return(add(result, 32), mload(result))
        }
    }
}
