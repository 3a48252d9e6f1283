// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Contracts for tests: they emit the events of StableSwap pools in the published order and follow the published formulas.
/// `ng` selects the contract: false for Pancake's port, which PulseX uses, and true for Curve's StableSwap-NG.
contract Token {
    string public symbol;
    string public name;
    uint8 public immutable decimals;
    uint256 public totalSupply;
    address public immutable minter = msg.sender;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 amount);

    constructor(string memory symbol_, uint8 decimals_, uint256 supply, address owner) {
        (symbol, name, decimals) = (symbol_, symbol_, decimals_);
        if (supply > 0) add(owner, supply);
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        return move(from, to, amount);
    }

    function mint(address to, uint256 amount) external {
        require(msg.sender == minter);
        add(to, amount);
    }

    function burn(address from, uint256 amount) external {
        require(msg.sender == minter);
        totalSupply -= amount;
        balanceOf[from] -= amount;
        emit Transfer(from, address(0), amount);
    }

    function add(address to, uint256 amount) private {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function move(address from, address to, uint256 amount) private returns (bool) {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
        return true;
    }
}

/// The invariant. `unit` is the factor of A.
library Curve {
    function findD(uint256[] memory xp, uint256 amp, bool ng) internal pure returns (uint256) {
        (uint256 n, uint256 unit, uint256 sum) = (xp.length, ng ? 100 : 1, 0);
        for (uint256 k; k < n; k++) sum += xp[k];
        uint256 d = sum;
        for (uint256 step; step < 255 && sum > 0; step++) {
            uint256 part = d;
            for (uint256 k; k < n; k++) part = (part * d) / (ng ? xp[k] : xp[k] * n);
            if (ng) part /= n ** n;
            uint256 last = d;
            uint256 above = ((amp * n * sum) / unit + part * n) * d;
            d = above / (((amp * n - unit) * d) / unit + (n + 1) * part);
            if (near(d, last)) return d;
        }
        require(!ng || sum == 0, "D");
        return d;
    }

    /// The balance j with which D stays, without looking at xp[j].
    function findY(uint256[] memory xp, uint256 j, uint256 amp, bool ng, uint256 d) internal pure returns (uint256 y) {
        (uint256 n, uint256 unit) = (xp.length, ng ? 100 : 1);
        (uint256 c, uint256 b) = (d, (d * unit) / (amp * n));
        for (uint256 k; k < n; k++) {
            if (k == j) continue;
            b += xp[k];
            c = (c * d) / (xp[k] * n);
        }
        c = (c * d * unit) / (amp * n * n);
        y = d;
        for (uint256 step; step < 255; step++) {
            uint256 last = y;
            y = (y * y + c) / (2 * y + b - d);
            if (near(y, last)) return y;
        }
    }

    function near(uint256 a, uint256 b) private pure returns (bool) {
        return a > b ? a - b <= 1 : b - a <= 1;
    }
}

contract StablePool {
    bool private immutable ng;
    Token public immutable token;
    address public immutable feeReceiver;
    address[] public coins;
    uint256[] public RATES;
    uint256[] public balances;
    uint256[] public admin_balances;
    uint256 public fee;
    uint256 public admin_fee;
    uint256 private offpeg;
    uint256 public initial_A;
    uint256 public future_A;
    uint256 public initial_A_time;
    uint256 public future_A_time;
    bool private killed;
    /// The part of the supply of StableSwap-NG, whose pool is the LP token.
    uint256 private ngSupply;
    mapping(address => uint256) public balanceOf;

    event OwnershipTransferred(address indexed from, address indexed to);
    event Transfer(address indexed from, address indexed to, uint256 amount);
    event TokenExchange(address indexed buyer, uint256 sold_id, uint256 sold, uint256 bought_id, uint256 bought);
    event TokenExchange(address indexed buyer, int128 sold_id, uint256 sold, int128 bought_id, uint256 bought);
    event AddLiquidity(address indexed provider, uint256[2] amounts, uint256[2] fees, uint256 d, uint256 supply);
    event AddLiquidity(address indexed provider, uint256[3] amounts, uint256[3] fees, uint256 d, uint256 supply);
    event AddLiquidity(address indexed provider, uint256[] amounts, uint256[] fees, uint256 d, uint256 supply);
    event RemoveLiquidity(address indexed provider, uint256[2] amounts, uint256[2] fees, uint256 supply);
    event RemoveLiquidity(address indexed provider, uint256[3] amounts, uint256[3] fees, uint256 supply);
    event RemoveLiquidity(address indexed provider, uint256[] amounts, uint256[] fees, uint256 supply);
    event RemoveLiquidityOne(address indexed provider, uint256 index, uint256 shares, uint256 amount);
    event RemoveLiquidityOne(address indexed provider, int128 id, uint256 shares, uint256 amount, uint256 supply);
    event RemoveLiquidityImbalance(address indexed provider, uint256[2] amounts, uint256[2] fees, uint256 d, uint256 supply);
    event RemoveLiquidityImbalance(address indexed provider, uint256[3] amounts, uint256[3] fees, uint256 d, uint256 supply);
    event RemoveLiquidityImbalance(address indexed provider, uint256[] amounts, uint256[] fees, uint256 d, uint256 supply);
    event NewFee(uint256 fee, uint256 admin_fee);
    event ApplyNewFee(uint256 fee, uint256 offpeg_fee_multiplier);
    event RampA(uint256 old_A, uint256 new_A, uint256 initial_time, uint256 future_time);
    event StopRampA(uint256 A, uint256 t);
    event DonateAdminFees();
    event Kill();
    event Unkill();

    constructor(bool ng_, address[] memory coins_, uint256 A_, uint256 fee_, uint256 second) {
        (ng, coins, fee, feeReceiver) = (ng_, coins_, fee_, msg.sender);
        initial_A = future_A = ng_ ? A_ * 100 : A_;
        (admin_fee, offpeg) = ng_ ? (uint256(5e9), second) : (second, uint256(0));
        for (uint256 k; k < coins_.length; k++) {
            RATES.push(10 ** (36 - Token(coins_[k]).decimals()));
            balances.push(0);
            admin_balances.push(0);
        }
        if (ng_) emit Transfer(address(0), msg.sender, 0);
        else {
            token = new Token("Stable-LP", 18, 0, address(0));
            emit OwnershipTransferred(address(0), msg.sender);
        }
    }

    /// Functions of one of the two contracts only.
    modifier only(bool ng_) {
        require(ng == ng_);
        _;
    }

    function N_COINS() external view returns (uint256) {
        return coins.length;
    }

    function A() public view returns (uint256) {
        return amp() / (ng ? 100 : 1);
    }

    function offpeg_fee_multiplier() external view only(true) returns (uint256) {
        return offpeg;
    }

    function stored_rates() external view only(true) returns (uint256[] memory) {
        return RATES;
    }

    function is_killed() external view only(false) returns (bool) {
        return killed;
    }

    function totalSupply() external view only(true) returns (uint256) {
        return ngSupply;
    }

    function supply() public view returns (uint256) {
        return ng ? ngSupply : token.totalSupply();
    }

    function amp() public view returns (uint256) {
        if (block.timestamp >= future_A_time) return future_A;
        (uint256 passed, uint256 span) = (block.timestamp - initial_A_time, future_A_time - initial_A_time);
        if (future_A > initial_A) return initial_A + ((future_A - initial_A) * passed) / span;
        return initial_A - ((initial_A - future_A) * passed) / span;
    }

    function scaled(uint256[] memory raw) private view returns (uint256[] memory xp) {
        xp = new uint256[](raw.length);
        for (uint256 k; k < raw.length; k++) xp[k] = (RATES[k] * raw[k]) / 1e18;
    }

    function feeOf(uint256 xi, uint256 xj, uint256 base) private view returns (uint256) {
        if (offpeg <= 1e10) return base;
        return (offpeg * base) / (((offpeg - 1e10) * 4 * xi * xj) / (xi + xj) ** 2 + 1e10);
    }

    /// The move with 18 decimals before the fee, and the fee.
    function curveMove(uint256[] memory xp, uint256 i, uint256 j, uint256 dx) private view returns (uint256, uint256) {
        uint256 d = Curve.findD(xp, amp(), ng);
        (uint256 before, uint256 x) = (xp[i], xp[i] + dx);
        xp[i] = x;
        uint256 y = Curve.findY(xp, j, amp(), ng, d);
        return (xp[j] - y - 1, feeOf((before + x) / 2, (xp[j] + y) / 2, fee));
    }

    function get_dy(uint256 i, uint256 j, uint256 dx) external view returns (uint256) {
        (uint256 out, uint256 rate) = curveMove(scaled(balances), i, j, (dx * RATES[i]) / 1e18);
        if (ng) return ((out - (out * rate) / 1e10) * 1e18) / RATES[j];
        out = (out * 1e18) / RATES[j];
        return out - (rate * out) / 1e10;
    }

    /// The move of a trade with these balances of 18 decimals, without a fee.
    function scaledOut(uint256 i, uint256 j, uint256 dx, uint256[] memory xp) external view returns (uint256 out) {
        (out, ) = curveMove(xp, i, j, dx);
    }

    function exchange(uint256 i, uint256 j, uint256 dx, uint256) external {
        require(!killed && i != j);
        (uint256 out, uint256 rate) = curveMove(scaled(balances), i, j, (dx * RATES[i]) / 1e18);
        uint256 taken = (out * rate) / 1e10;
        uint256 dy = ((out - taken) * 1e18) / RATES[j];
        balances[i] += dx;
        book(j, dy, (((taken * admin_fee) / 1e10) * 1e18) / RATES[j]);
        take(i, dx);
        give(j, dy, msg.sender);
        if (ng) emit TokenExchange(msg.sender, int128(uint128(i)), dx, int128(uint128(j)), dy);
        else emit TokenExchange(msg.sender, i, dx, j, dy);
    }

    function book(uint256 j, uint256 out, uint256 admin) private {
        balances[j] -= out + admin;
        admin_balances[j] += admin;
    }

    function add_liquidity(uint256[] memory amounts) external {
        uint256 total = supply();
        uint256[] memory old = balances;
        uint256[] memory fresh = balances;
        for (uint256 k; k < old.length; k++) {
            require(total > 0 || amounts[k] > 0);
            fresh[k] += amounts[k];
        }
        uint256 d0 = total > 0 ? Curve.findD(scaled(old), amp(), ng) : 0;
        uint256 d1 = Curve.findD(scaled(fresh), amp(), ng);
        require(d1 > d0);
        uint256[] memory fees = new uint256[](ng && total == 0 ? 0 : old.length);
        (uint256 minted, uint256 named) = (d1, d1);
        if (total > 0) {
            uint256 d2 = charge(old, fresh, fees, d0, d1);
            minted = (total * (d2 - d0)) / d0;
            if (ng) named = d2;
        } else balances = fresh;
        for (uint256 k; k < old.length; k++) take(k, amounts[k]);
        mintShares(minted);
        if (ng) emit AddLiquidity(msg.sender, amounts, fees, named, total + minted);
        else if (old.length == 2) emit AddLiquidity(msg.sender, two(amounts), two(fees), named, total + minted);
        else emit AddLiquidity(msg.sender, three(amounts), three(fees), named, total + minted);
    }

    /// Takes the fees of an uneven change of the balances. Returns D after them.
    function charge(
        uint256[] memory old,
        uint256[] memory fresh,
        uint256[] memory fees,
        uint256 d0,
        uint256 d1
    ) private returns (uint256) {
        uint256 n = old.length;
        uint256 base = (fee * n) / (4 * (n - 1));
        for (uint256 k; k < n; k++) {
            uint256 ideal = (d1 * old[k]) / d0;
            uint256 off = ideal > fresh[k] ? ideal - fresh[k] : fresh[k] - ideal;
            uint256 rate = feeOf((RATES[k] * (old[k] + fresh[k])) / 1e18, (d0 + d1) / n, base);
            fees[k] = (rate * off) / 1e10;
            uint256 admin = (fees[k] * admin_fee) / 1e10;
            balances[k] = fresh[k] - admin;
            admin_balances[k] += admin;
            fresh[k] -= fees[k];
        }
        return Curve.findD(scaled(fresh), amp(), ng);
    }

    function remove_liquidity(uint256 shares) external {
        uint256 total = supply();
        uint256[] memory amounts = new uint256[](coins.length);
        for (uint256 k; k < amounts.length; k++) {
            amounts[k] = (balances[k] * shares) / total;
            balances[k] -= amounts[k];
            give(k, amounts[k], msg.sender);
        }
        burnShares(shares);
        if (ng) {
            emit RemoveLiquidity(msg.sender, amounts, new uint256[](0), total - shares);
            withdraw_admin_fees();
        } else {
            uint256[] memory none = new uint256[](amounts.length);
            if (amounts.length == 2) emit RemoveLiquidity(msg.sender, two(amounts), two(none), total - shares);
            else emit RemoveLiquidity(msg.sender, three(amounts), three(none), total - shares);
        }
    }

    function remove_liquidity_imbalance(uint256[] memory amounts) external {
        require(!killed);
        uint256 total = supply();
        uint256[] memory old = balances;
        uint256[] memory fresh = balances;
        for (uint256 k; k < old.length; k++) fresh[k] -= amounts[k];
        uint256 d0 = Curve.findD(scaled(old), amp(), ng);
        uint256 d1 = Curve.findD(scaled(fresh), amp(), ng);
        uint256[] memory fees = new uint256[](old.length);
        uint256 d2 = charge(old, fresh, fees, d0, d1);
        uint256 shares = ((d0 - d2) * total) / d0 + 1;
        burnShares(shares);
        for (uint256 k; k < old.length; k++) if (amounts[k] > 0) give(k, amounts[k], msg.sender);
        if (ng) emit RemoveLiquidityImbalance(msg.sender, amounts, fees, d2, total - shares);
        else if (old.length == 2) emit RemoveLiquidityImbalance(msg.sender, two(amounts), two(fees), d1, total - shares);
        else emit RemoveLiquidityImbalance(msg.sender, three(amounts), three(fees), d1, total - shares);
    }

    function remove_liquidity_one_coin(uint256 shares, uint256 i) external {
        require(!killed);
        (uint256 dy, uint256 taken) = oneCoin(shares, i);
        book(i, dy, (taken * admin_fee) / 1e10);
        burnShares(shares);
        give(i, dy, msg.sender);
        if (ng) emit RemoveLiquidityOne(msg.sender, int128(uint128(i)), shares, dy, supply());
        else emit RemoveLiquidityOne(msg.sender, i, shares, dy);
    }

    function oneCoin(uint256 shares, uint256 i) private view returns (uint256 dy, uint256 taken) {
        uint256[] memory xp = scaled(balances);
        uint256 n = xp.length;
        uint256 d0 = Curve.findD(xp, amp(), ng);
        uint256 d1 = d0 - (shares * d0) / supply();
        uint256 y = Curve.findY(xp, i, amp(), ng, d1);
        uint256 before = xp[i];
        for (uint256 k; k < n; k++) {
            uint256 off = k == i ? (xp[k] * d1) / d0 - y : xp[k] - (xp[k] * d1) / d0;
            uint256 rate = feeOf(k == i ? (xp[k] + y) / 2 : xp[k], (d0 + d1) / (2 * n), (fee * n) / (4 * (n - 1)));
            xp[k] -= (rate * off) / 1e10;
        }
        dy = ((xp[i] - Curve.findY(xp, i, amp(), ng, d1) - 1) * 1e18) / RATES[i];
        taken = ((before - y) * 1e18) / RATES[i] - dy;
    }

    function mintShares(uint256 shares) private {
        if (!ng) return token.mint(msg.sender, shares);
        ngSupply += shares;
        balanceOf[msg.sender] += shares;
        emit Transfer(address(0), msg.sender, shares);
    }

    function burnShares(uint256 shares) private {
        if (!ng) return token.burn(msg.sender, shares);
        ngSupply -= shares;
        balanceOf[msg.sender] -= shares;
        emit Transfer(msg.sender, address(0), shares);
    }

    function take(uint256 k, uint256 amount) private {
        if (amount > 0) Token(coins[k]).transferFrom(msg.sender, address(this), amount);
    }

    function give(uint256 k, uint256 amount, address to) private {
        Token(coins[k]).transfer(to, amount);
    }

    function two(uint256[] memory all) private pure returns (uint256[2] memory) {
        return [all[0], all[1]];
    }

    function three(uint256[] memory all) private pure returns (uint256[3] memory) {
        return [all[0], all[1], all[2]];
    }

    /// `second` is the owner's part of the fee, or the multiplier of the fee off the peg.
    function setFees(uint256 fee_, uint256 second) external {
        fee = fee_;
        if (ng) {
            offpeg = second;
            emit ApplyNewFee(fee_, second);
        } else {
            admin_fee = second;
            emit NewFee(fee_, second);
        }
    }

    function ramp_A(uint256 next, uint256 seconds_) external {
        (initial_A, future_A) = (amp(), ng ? next * 100 : next);
        (initial_A_time, future_A_time) = (block.timestamp, block.timestamp + seconds_);
        emit RampA(initial_A, future_A, initial_A_time, future_A_time);
    }

    function stop_ramp() external {
        initial_A = future_A = amp();
        initial_A_time = future_A_time = block.timestamp;
        emit StopRampA(future_A, block.timestamp);
    }

    function setKilled(bool killed_) external only(false) {
        killed = killed_;
        if (killed_) emit Kill();
        else emit Unkill();
    }

    function withdraw_admin_fees() public {
        for (uint256 k; k < coins.length; k++) {
            uint256 amount = admin_balances[k];
            admin_balances[k] = 0;
            if (amount > 0) give(k, amount, feeReceiver);
        }
    }

    function donate_admin_fees() external only(false) {
        for (uint256 k; k < coins.length; k++) {
            balances[k] += admin_balances[k];
            admin_balances[k] = 0;
        }
        emit DonateAdminFees();
    }
}

contract StableFactory {
    struct Info {
        address swapContract;
        address token0;
        address token1;
        address token2;
        address LPContract;
    }

    mapping(address => mapping(address => mapping(address => Info))) public stableSwapPairInfo;
    mapping(address => address[]) private coinsOf;
    mapping(address => uint8[]) private typesOf;
    address public latest;

    event NewStableSwapPair(address indexed swapContract, address tokenA, address tokenB, address tokenC, address LP);
    event PlainPoolDeployed(address[] coins, uint256 A, uint256 fee, address deployer);

    /// `coins` in ascending order, two or three.
    function createPair(address[] memory coins, uint256 A, uint256 fee, uint256 adminFee) external {
        StablePool pool = new StablePool(false, coins, A, fee, adminFee);
        address third = coins.length == 3 ? coins[2] : address(0);
        latest = address(pool);
        stableSwapPairInfo[coins[0]][coins[1]][third] = Info(latest, coins[0], coins[1], third, address(pool.token()));
        emit NewStableSwapPair(latest, coins[0], coins[1], third, address(pool.token()));
    }

    function deploy_plain_pool(address[] memory coins, uint256 A, uint256 fee, uint256 offpeg, uint8[] memory types) external {
        latest = address(new StablePool(true, coins, A, fee, offpeg));
        (coinsOf[latest], typesOf[latest]) = (coins, types);
        emit PlainPoolDeployed(coins, A, fee, msg.sender);
    }

    function get_coins(address pool) external view returns (address[] memory) {
        return coinsOf[pool];
    }

    function get_pool_asset_types(address pool) external view returns (uint8[] memory) {
        return typesOf[pool];
    }
}

/// Owns the tokens and LP tokens, and calls any contract.
contract Trader {
    function approve(Token token, address spender) external {
        token.approve(spender, type(uint256).max);
    }

    function run(address to, bytes calldata data) external {
        (bool ok, bytes memory answer) = to.call(data);
        require(ok, string(answer));
    }
}
