// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Contracts for tests: they emit the events of StableSwap pools in the published order and follow the published formulas.
/// `Kind` selects the contract: Pancake's port, which PulseX uses, Curve's StableSwap-NG, the first contracts of Curve such as
/// 3pool, those of its factory of 2021, those that count what they hold (stETH, Aave), and meta pools of the registry.
enum Kind {
    Pancake,
    Ng,
    Registry,
    Factory,
    Held,
    Cached
}

address constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;

function placesOf(address coin) view returns (uint8) {
    return coin == NATIVE ? 18 : Token(coin).decimals();
}

contract Token {
    string public symbol;
    string public name;
    uint8 public immutable decimals;
    uint256 public totalSupply;
    address public immutable minter = msg.sender;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    /// The rate of an oracle at `ratedAt`, and its growth per second.
    uint256 private firstRate = 1e18;
    uint256 private growth;
    uint256 private ratedAt;

    event Transfer(address indexed from, address indexed to, uint256 amount);

    constructor(string memory symbol_, uint8 decimals_, uint256 supply, address owner) {
        (symbol, name, decimals) = (symbol_, symbol_, decimals_);
        if (supply > 0) add(owner, supply);
    }

    function setRate(uint256 rate_, uint256 growth_) external {
        (firstRate, growth, ratedAt) = (rate_, growth_, block.timestamp);
    }

    function rate() external view returns (uint256) {
        return firstRate + growth * (block.timestamp - ratedAt);
    }

    /// Adds to a balance without an event, as a rebase.
    function grow(address holder, uint256 amount) external {
        balanceOf[holder] += amount;
        totalSupply += amount;
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

/// How a contract counts A, divides, and ends without convergence.
struct Style {
    uint256 unit;
    bool once;
    bool reverts;
    /// Added to each divisor of D.
    uint256 plus;
}

/// The invariant. `unit` is the factor of A.
library Curve {
    function findD(uint256[] memory xp, uint256 amp, Style memory style) internal pure returns (uint256) {
        (uint256 n, uint256 unit, uint256 sum) = (xp.length, style.unit, 0);
        for (uint256 k; k < n; k++) sum += xp[k];
        uint256 d = sum;
        for (uint256 step; step < 255 && sum > 0; step++) {
            uint256 part = d;
            for (uint256 k; k < n; k++) part = (part * d) / (style.once ? xp[k] : xp[k] * n + style.plus);
            if (style.once) part /= n ** n;
            uint256 last = d;
            uint256 above = ((amp * n * sum) / unit + part * n) * d;
            d = above / (((amp * n - unit) * d) / unit + (n + 1) * part);
            if (near(d, last)) return d;
        }
        require(!style.reverts || sum == 0, "D");
        return d;
    }

    /// The balance j with which D stays, without looking at xp[j].
    function findY(
        uint256[] memory xp,
        uint256 j,
        uint256 amp,
        uint256 unit,
        uint256 d
    ) internal pure returns (uint256 y) {
        uint256 n = xp.length;
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

/// `second` is the owner's part of the fee, or the fee factor of StableSwap-NG. `oracles` are the coins with a rate.
struct Plan {
    Kind kind;
    address[] coins;
    uint256 A;
    uint256 fee;
    uint256 second;
    bool[] oracles;
    StablePool base;
}

contract StablePool {
    Kind private immutable kind;
    StablePool private immutable base;
    Token public immutable token;
    address public immutable feeReceiver;
    address[] public coins;
    bool[] private oracles;
    uint256[] public RATES;
    uint256 public base_virtual_price;
    uint256 private cachedAt;
    uint256[] private stored;
    uint256[] public admin_balances;
    uint256 public fee;
    uint256 public admin_fee;
    uint256 private offpeg;
    uint256 public initial_A;
    uint256 public future_A;
    uint256 public initial_A_time;
    uint256 public future_A_time;
    bool private killed;
    bool private hasOracle;
    /// The part of the supply of a pool that is its own LP token.
    uint256 private ownSupply;
    mapping(address => uint256) public balanceOf;

    event OwnershipTransferred(address indexed from, address indexed to);
    event Transfer(address indexed from, address indexed to, uint256 amount);
    event TokenExchange(address indexed buyer, uint256 sold_id, uint256 sold, uint256 bought_id, uint256 bought);
    event TokenExchange(address indexed buyer, int128 sold_id, uint256 sold, int128 bought_id, uint256 bought);
    event AddLiquidity(address indexed provider, uint256[2] amounts, uint256[2] fees, uint256 d, uint256 supply);
    event AddLiquidity(address indexed provider, uint256[3] amounts, uint256[3] fees, uint256 d, uint256 supply);
    event AddLiquidity(address indexed provider, uint256[4] amounts, uint256[4] fees, uint256 d, uint256 supply);
    event AddLiquidity(address indexed provider, uint256[] amounts, uint256[] fees, uint256 d, uint256 supply);
    event RemoveLiquidity(address indexed provider, uint256[2] amounts, uint256[2] fees, uint256 supply);
    event RemoveLiquidity(address indexed provider, uint256[3] amounts, uint256[3] fees, uint256 supply);
    event RemoveLiquidity(address indexed provider, uint256[4] amounts, uint256[4] fees, uint256 supply);
    event RemoveLiquidity(address indexed provider, uint256[] amounts, uint256[] fees, uint256 supply);
    /// Pancake: index, LP tokens, amount. Factory: LP tokens, amount, supply.
    event RemoveLiquidityOne(address indexed provider, uint256 first, uint256 second, uint256 third);
    event RemoveLiquidityOne(address indexed provider, uint256 shares, uint256 amount);
    event RemoveLiquidityOne(address indexed provider, int128 id, uint256 shares, uint256 amount, uint256 supply);
    event RemoveLiquidityImbalance(address indexed provider, uint256[2] amounts, uint256[2] fees, uint256 d, uint256 supply);
    event RemoveLiquidityImbalance(address indexed provider, uint256[3] amounts, uint256[3] fees, uint256 d, uint256 supply);
    event RemoveLiquidityImbalance(address indexed provider, uint256[4] amounts, uint256[4] fees, uint256 d, uint256 supply);
    event RemoveLiquidityImbalance(address indexed provider, uint256[] amounts, uint256[] fees, uint256 d, uint256 supply);
    event NewFee(uint256 fee, uint256 admin_fee);
    event NewFee(uint256 fee, uint256 admin_fee, uint256 offpeg_fee_multiplier);
    event ApplyNewFee(uint256 fee, uint256 offpeg_fee_multiplier);
    event ApplyNewFee(uint256 fee);
    event TokenExchangeUnderlying(address indexed buyer, int128 sold_id, uint256 sold, int128 bought_id, uint256 bought);
    event RampA(uint256 old_A, uint256 new_A, uint256 initial_time, uint256 future_time);
    event StopRampA(uint256 A, uint256 t);
    event DonateAdminFees();
    event Kill();
    event Unkill();

    constructor(Plan memory plan) {
        (kind, base, coins, oracles) = (plan.kind, plan.base, plan.coins, plan.oracles);
        (fee, feeReceiver) = (plan.fee, msg.sender);
        bool isOwn = kind == Kind.Ng || kind == Kind.Factory;
        initial_A = future_A = isPrecise() ? plan.A * 100 : plan.A;
        bool hasFactor = kind == Kind.Ng || kind == Kind.Held;
        (admin_fee, offpeg) = isPrecise() ? (uint256(5e9), hasFactor ? plan.second : 0) : (plan.second, uint256(0));
        for (uint256 k; k < plan.coins.length; k++) {
            RATES.push(10 ** (36 - placesOf(plan.coins[k])));
            stored.push(0);
            admin_balances.push(0);
            if (plan.oracles[k]) hasOracle = true;
        }
        touch();
        if (address(base) != address(0))
            for (uint256 k; k < base.N_COINS(); k++) Token(base.coins(k)).approve(address(base), type(uint256).max);
        if (isOwn) emit Transfer(address(0), kind == Kind.Ng ? msg.sender : address(this), 0);
        else {
            token = new Token("Stable-LP", 18, 0, address(0));
            emit OwnershipTransferred(address(0), msg.sender);
        }
    }

    /// Functions of one kind only.
    modifier only(bool isOne) {
        require(isOne);
        _;
    }

    function style() private view returns (Style memory) {
        if (kind == Kind.Ng) return Style(100, true, true, 0);
        if (kind == Kind.Factory) return Style(100, coins.length == 2 && address(base) == address(0), true, 0);
        if (kind == Kind.Held) return Style(100, false, true, 1);
        if (kind == Kind.Cached) return Style(100, false, true, 0);
        return Style(1, false, false, 0);
    }

    function hasOwnShares() private view returns (bool) {
        return kind == Kind.Ng || kind == Kind.Factory;
    }

    function N_COINS() external view returns (uint256) {
        return coins.length;
    }

    function A() public view returns (uint256) {
        return amp() / style().unit;
    }

    function isPrecise() private view returns (bool) {
        return kind != Kind.Pancake && kind != Kind.Registry;
    }

    function A_precise() external view only(isPrecise()) returns (uint256) {
        return amp();
    }

    function offpeg_fee_multiplier() external view only(kind == Kind.Ng || kind == Kind.Held) returns (uint256) {
        return offpeg;
    }

    function rates() public view returns (uint256[] memory list) {
        list = RATES;
        for (uint256 k; k < list.length; k++) if (oracles[k]) list[k] = (list[k] * Token(coins[k]).rate()) / 1e18;
        if (kind == Kind.Cached && block.timestamp <= cachedAt + 600) list[1] = base_virtual_price;
        else if (address(base) != address(0)) list[1] = base.get_virtual_price();
    }

    /// The factory of 2021 has a list of a fixed size, and only of pools with an oracle.
    function stored_rates() external view returns (uint256[] memory all_) {
        all_ = rates();
        if (kind == Kind.Ng) return all_;
        require(kind == Kind.Factory && hasOracle);
        assembly {
            return(add(all_, 32), mul(mload(all_), 32))
        }
    }

    function get_virtual_price() external view returns (uint256) {
        return (Curve.findD(scaled(all()), amp(), style()) * 1e18) / supply();
    }

    function base_pool() external view only(kind == Kind.Cached) returns (StablePool) {
        return base;
    }

    /// The meta pools of the registry keep the virtual price of their base pool for ten minutes.
    function touch() private {
        if (kind == Kind.Cached && block.timestamp > cachedAt + 600)
            (base_virtual_price, cachedAt) = (base.get_virtual_price(), block.timestamp);
    }

    /// Without the owner's fees. `Held` counts what it holds.
    function balances(uint256 k) public view returns (uint256) {
        return balanceBefore(k, 0);
    }

    /// `value`: native coins that the call brings.
    function balanceBefore(uint256 k, uint256 value) private view returns (uint256) {
        if (kind != Kind.Held) return stored[k];
        uint256 held = coins[k] == NATIVE ? address(this).balance - value : Token(coins[k]).balanceOf(address(this));
        return held - admin_balances[k];
    }

    function all() private view returns (uint256[] memory list) {
        list = new uint256[](coins.length);
        for (uint256 k; k < list.length; k++) list[k] = balanceBefore(k, msg.value);
    }

    function move(uint256 k, uint256 into, uint256 out) private {
        if (kind != Kind.Held) stored[k] = stored[k] + into - out;
    }

    function is_killed() external view only(kind == Kind.Pancake) returns (bool) {
        return killed;
    }

    function decimals() external view only(hasOwnShares()) returns (uint256) {
        return 18;
    }

    function symbol() external view only(hasOwnShares()) returns (string memory) {
        return "LP";
    }

    function approve(address, uint256) external view only(hasOwnShares()) returns (bool) {
        return true;
    }

    /// The tests need no allowances of LP tokens.
    function transferFrom(address from, address to, uint256 amount) public only(hasOwnShares()) returns (bool) {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return transferFrom(msg.sender, to, amount);
    }

    function totalSupply() external view only(hasOwnShares()) returns (uint256) {
        return ownSupply;
    }

    function supply() public view returns (uint256) {
        return hasOwnShares() ? ownSupply : token.totalSupply();
    }

    function amp() public view returns (uint256) {
        if (block.timestamp >= future_A_time) return future_A;
        (uint256 passed, uint256 span) = (block.timestamp - initial_A_time, future_A_time - initial_A_time);
        if (future_A > initial_A) return initial_A + ((future_A - initial_A) * passed) / span;
        return initial_A - ((initial_A - future_A) * passed) / span;
    }

    function scaled(uint256[] memory raw) private view returns (uint256[] memory xp) {
        return scaledBy(rates(), raw);
    }

    function scaledBy(uint256[] memory all_, uint256[] memory raw) private pure returns (uint256[] memory xp) {
        xp = new uint256[](raw.length);
        for (uint256 k; k < raw.length; k++) xp[k] = (all_[k] * raw[k]) / 1e18;
    }

    function feeOf(uint256 xi, uint256 xj, uint256 base) private view returns (uint256) {
        if (offpeg <= 1e10) return base;
        return (offpeg * base) / (((offpeg - 1e10) * 4 * xi * xj) / (xi + xj) ** 2 + 1e10);
    }

    /// The move with 18 decimals before the fee, and the fee.
    function curveMove(uint256[] memory xp, uint256 i, uint256 j, uint256 dx) private view returns (uint256, uint256) {
        uint256 d = Curve.findD(xp, amp(), style());
        (uint256 before, uint256 x) = (xp[i], xp[i] + dx);
        xp[i] = x;
        uint256 y = Curve.findY(xp, j, amp(), style().unit, d);
        return (xp[j] - y - 1, feeOf((before + x) / 2, (xp[j] + y) / 2, fee));
    }

    function get_dy(uint256 i, uint256 j, uint256 dx) external view returns (uint256) {
        uint256[] memory all_ = rates();
        (uint256 out, uint256 rate) = curveMove(scaledBy(all_, all()), i, j, (dx * all_[i]) / 1e18);
        if (isPrecise()) return ((out - (out * rate) / 1e10) * 1e18) / all_[j];
        out = (out * 1e18) / all_[j];
        return out - (rate * out) / 1e10;
    }

    /// The move of a trade with these balances of 18 decimals, without a fee.
    function scaledOut(uint256 i, uint256 j, uint256 dx, uint256[] memory xp) external view returns (uint256 out) {
        (out, ) = curveMove(xp, i, j, dx);
    }

    function exchange(uint256 i, uint256 j, uint256 dx, uint256) external payable {
        uint256 dy = trade(i, j, dx);
        if (kind == Kind.Pancake) emit TokenExchange(msg.sender, i, dx, j, dy);
        else emit TokenExchange(msg.sender, int128(uint128(i)), dx, int128(uint128(j)), dy);
    }

    function trade(uint256 i, uint256 j, uint256 dx) private returns (uint256 dy) {
        touch();
        dy = swap(i, j, dx, rates());
        take(i, dx);
        give(j, dy, msg.sender);
    }

    function swap(uint256 i, uint256 j, uint256 dx, uint256[] memory all_) private returns (uint256 dy) {
        require(!killed && i != j);
        (uint256 out, uint256 rate) = curveMove(scaledBy(all_, all()), i, j, (dx * all_[i]) / 1e18);
        uint256 taken = (out * rate) / 1e10;
        dy = ((out - taken) * 1e18) / all_[j];
        move(i, dx, 0);
        book(j, dy, (((taken * admin_fee) / 1e10) * 1e18) / all_[j]);
    }

    /// Coin 0, or a coin of the base pool. The rates are those before the base pool moves.
    function exchange_underlying(uint256 i, uint256 j, uint256 dx, uint256) external payable {
        if (kind == Kind.Held) {
            uint256 dy = trade(i, j, dx);
            emit TokenExchangeUnderlying(msg.sender, int128(uint128(i)), dx, int128(uint128(j)), dy);
            return;
        }
        touch();
        uint256[] memory all_ = rates();
        Token coinOut = Token(j == 0 ? coins[0] : base.coins(j - 1));
        Token(i == 0 ? coins[0] : base.coins(i - 1)).transferFrom(msg.sender, address(this), dx);
        uint256 held = coinOut.balanceOf(address(this));
        uint256 bought;
        if (i > 0 && j > 0) base.exchange(i - 1, j - 1, dx, 0);
        else {
            uint256 dy = swap(i == 0 ? 0 : 1, j == 0 ? 0 : 1, i == 0 ? dx : deposit(i - 1, dx), all_);
            if (j > 0) base.remove_liquidity_one_coin(dy, j - 1);
            else bought = dy;
        }
        if (j > 0) bought = coinOut.balanceOf(address(this)) - held;
        coinOut.transfer(msg.sender, bought);
        emit TokenExchangeUnderlying(msg.sender, int128(uint128(i)), dx, int128(uint128(j)), bought);
    }

    function deposit(uint256 k, uint256 amount) private returns (uint256) {
        uint256[] memory amounts = new uint256[](base.N_COINS());
        amounts[k] = amount;
        uint256 held = Token(coins[1]).balanceOf(address(this));
        base.add_liquidity(amounts);
        return Token(coins[1]).balanceOf(address(this)) - held;
    }

    function book(uint256 j, uint256 out, uint256 admin) private {
        move(j, 0, out + admin);
        admin_balances[j] += admin;
    }

    function add_liquidity(uint256[] memory amounts) external payable {
        touch();
        uint256 total = supply();
        uint256[] memory old = all();
        uint256[] memory fresh = all();
        for (uint256 k; k < old.length; k++) {
            require(total > 0 || amounts[k] > 0);
            fresh[k] += amounts[k];
        }
        uint256 d0 = total > 0 ? Curve.findD(scaled(old), amp(), style()) : 0;
        uint256 d1 = Curve.findD(scaled(fresh), amp(), style());
        require(d1 > d0);
        uint256[] memory fees = new uint256[](kind == Kind.Ng && total == 0 ? 0 : old.length);
        (uint256 minted, uint256 named) = (d1, d1);
        if (total > 0) {
            uint256 d2 = charge(old, fresh, fees, d0, d1);
            minted = (total * (d2 - d0)) / d0;
            if (kind == Kind.Ng) named = d2;
        } else stored = fresh;
        for (uint256 k; k < old.length; k++) take(k, amounts[k]);
        mintShares(minted);
        if (kind == Kind.Ng) emit AddLiquidity(msg.sender, amounts, fees, named, total + minted);
        else if (old.length == 2) emit AddLiquidity(msg.sender, two(amounts), two(fees), named, total + minted);
        else if (old.length == 3) emit AddLiquidity(msg.sender, three(amounts), three(fees), named, total + minted);
        else emit AddLiquidity(msg.sender, four(amounts), four(fees), named, total + minted);
    }

    /// Takes the fees of an uneven change of the balances. Returns D after them.
    function charge(
        uint256[] memory old,
        uint256[] memory fresh,
        uint256[] memory fees,
        uint256 d0,
        uint256 d1
    ) private returns (uint256) {
        for (uint256 k; k < old.length; k++) {
            fees[k] = feeFor(k, old[k], fresh[k], d0, d1);
            uint256 admin = (fees[k] * admin_fee) / 1e10;
            stored[k] = fresh[k] - admin;
            admin_balances[k] += admin;
            fresh[k] -= fees[k];
        }
        return Curve.findD(scaled(fresh), amp(), style());
    }

    function feeFor(uint256 k, uint256 old, uint256 fresh, uint256 d0, uint256 d1) private view returns (uint256) {
        uint256 n = coins.length;
        uint256 ideal = (d1 * old) / d0;
        uint256 off = ideal > fresh ? ideal - fresh : fresh - ideal;
        uint256 mean = (rates()[k] * (old + fresh)) / 1e18;
        return (feeOf(mean, (d0 + d1) / n, (fee * n) / (4 * (n - 1))) * off) / 1e10;
    }

    function remove_liquidity(uint256 shares) external {
        uint256 total = supply();
        uint256[] memory amounts = new uint256[](coins.length);
        for (uint256 k; k < amounts.length; k++) {
            amounts[k] = (balances(k) * shares) / total;
            move(k, 0, amounts[k]);
            give(k, amounts[k], msg.sender);
        }
        burnShares(shares);
        if (kind == Kind.Ng) {
            emit RemoveLiquidity(msg.sender, amounts, new uint256[](0), total - shares);
            withdraw_admin_fees();
        } else {
            uint256[] memory none = new uint256[](amounts.length);
            if (amounts.length == 2) emit RemoveLiquidity(msg.sender, two(amounts), two(none), total - shares);
            else if (amounts.length == 3) emit RemoveLiquidity(msg.sender, three(amounts), three(none), total - shares);
            else emit RemoveLiquidity(msg.sender, four(amounts), four(none), total - shares);
        }
    }

    function remove_liquidity_imbalance(uint256[] memory amounts) external {
        require(!killed);
        touch();
        uint256 total = supply();
        uint256[] memory old = all();
        uint256[] memory fresh = all();
        for (uint256 k; k < old.length; k++) fresh[k] -= amounts[k];
        uint256 d0 = Curve.findD(scaled(old), amp(), style());
        uint256 d1 = Curve.findD(scaled(fresh), amp(), style());
        uint256[] memory fees = new uint256[](old.length);
        uint256 d2 = charge(old, fresh, fees, d0, d1);
        uint256 shares = ((d0 - d2) * total) / d0 + 1;
        burnShares(shares);
        for (uint256 k; k < old.length; k++) if (amounts[k] > 0) give(k, amounts[k], msg.sender);
        emitImbalance(amounts, fees, kind == Kind.Ng ? d2 : d1, total - shares);
    }

    function emitImbalance(uint256[] memory amounts, uint256[] memory fees, uint256 d, uint256 left) private {
        uint256 n = amounts.length;
        if (kind == Kind.Ng) emit RemoveLiquidityImbalance(msg.sender, amounts, fees, d, left);
        else if (n == 2) emit RemoveLiquidityImbalance(msg.sender, two(amounts), two(fees), d, left);
        else if (n == 3) emit RemoveLiquidityImbalance(msg.sender, three(amounts), three(fees), d, left);
        else emit RemoveLiquidityImbalance(msg.sender, four(amounts), four(fees), d, left);
    }

    function remove_liquidity_one_coin(uint256 shares, uint256 i) external {
        require(!killed);
        touch();
        (uint256 dy, uint256 taken) = oneCoin(shares, i);
        book(i, dy, (taken * admin_fee) / 1e10);
        burnShares(shares);
        give(i, dy, msg.sender);
        if (kind == Kind.Ng) emit RemoveLiquidityOne(msg.sender, int128(uint128(i)), shares, dy, supply());
        else if (kind == Kind.Pancake) emit RemoveLiquidityOne(msg.sender, i, shares, dy);
        else if (kind == Kind.Factory || kind == Kind.Cached) emit RemoveLiquidityOne(msg.sender, shares, dy, supply());
        else emit RemoveLiquidityOne(msg.sender, shares, dy);
    }

    function oneCoin(uint256 shares, uint256 i) private view returns (uint256 dy, uint256 taken) {
        uint256[] memory xp = scaled(all());
        uint256 n = xp.length;
        uint256 d0 = Curve.findD(xp, amp(), style());
        uint256 d1 = d0 - (shares * d0) / supply();
        uint256 y = Curve.findY(xp, i, amp(), style().unit, d1);
        uint256 before = xp[i];
        for (uint256 k; k < n; k++) {
            uint256 off = k == i ? (xp[k] * d1) / d0 - y : xp[k] - (xp[k] * d1) / d0;
            uint256 rate = feeOf(k == i ? (xp[k] + y) / 2 : xp[k], (d0 + d1) / (2 * n), (fee * n) / (4 * (n - 1)));
            xp[k] -= (rate * off) / 1e10;
        }
        uint256 unit = rates()[i];
        dy = ((xp[i] - Curve.findY(xp, i, amp(), style().unit, d1) - 1) * 1e18) / unit;
        taken = ((before - y) * 1e18) / unit - dy;
    }

    function mintShares(uint256 shares) private {
        if (!hasOwnShares()) return token.mint(msg.sender, shares);
        ownSupply += shares;
        balanceOf[msg.sender] += shares;
        emit Transfer(address(0), msg.sender, shares);
    }

    function burnShares(uint256 shares) private {
        if (!hasOwnShares()) return token.burn(msg.sender, shares);
        ownSupply -= shares;
        balanceOf[msg.sender] -= shares;
        emit Transfer(msg.sender, address(0), shares);
    }

    function take(uint256 k, uint256 amount) private {
        if (coins[k] == NATIVE) require(msg.value == amount);
        else if (amount > 0) Token(coins[k]).transferFrom(msg.sender, address(this), amount);
    }

    function give(uint256 k, uint256 amount, address to) private {
        if (coins[k] == NATIVE) payable(to).transfer(amount);
        else Token(coins[k]).transfer(to, amount);
    }

    function two(uint256[] memory v) private pure returns (uint256[2] memory) {
        return [v[0], v[1]];
    }

    function three(uint256[] memory v) private pure returns (uint256[3] memory) {
        return [v[0], v[1], v[2]];
    }

    function four(uint256[] memory v) private pure returns (uint256[4] memory) {
        return [v[0], v[1], v[2], v[3]];
    }

    /// `second` is the owner's part of the fee, or the multiplier of the fee off the peg.
    function setFees(uint256 fee_, uint256 second) external {
        fee = fee_;
        if (kind == Kind.Ng) {
            offpeg = second;
            emit ApplyNewFee(fee_, second);
        } else if (kind == Kind.Held) {
            offpeg = second;
            emit NewFee(fee_, admin_fee, second);
        } else if (kind == Kind.Factory) emit ApplyNewFee(fee_);
        else {
            admin_fee = second;
            emit NewFee(fee_, second);
        }
    }

    function ramp_A(uint256 next, uint256 seconds_) external {
        (initial_A, future_A) = (amp(), next * style().unit);
        (initial_A_time, future_A_time) = (block.timestamp, block.timestamp + seconds_);
        emit RampA(initial_A, future_A, initial_A_time, future_A_time);
    }

    function stop_ramp() external {
        initial_A = future_A = amp();
        initial_A_time = future_A_time = block.timestamp;
        emit StopRampA(future_A, block.timestamp);
    }

    function setKilled(bool killed_) external only(kind == Kind.Pancake) {
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

    function donate_admin_fees() external only(kind == Kind.Pancake) {
        for (uint256 k; k < coins.length; k++) {
            stored[k] += admin_balances[k];
            admin_balances[k] = 0;
        }
        emit DonateAdminFees();
    }
}

contract PoolMaker {
    function make(Plan memory plan) internal returns (StablePool pool) {
        if (plan.oracles.length == 0) plan.oracles = new bool[](plan.coins.length);
        pool = new StablePool(plan);
    }
}

/// Pancake's factory, and that of StableSwap-NG.
contract StableFactory is PoolMaker {
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
    mapping(address => StablePool) public get_base_pool;
    address public latest;

    event NewStableSwapPair(address indexed swapContract, address tokenA, address tokenB, address tokenC, address LP);
    event PlainPoolDeployed(address[] coins, uint256 A, uint256 fee, address deployer);
    event MetaPoolDeployed(address coin, address base_pool, uint256 A, uint256 fee, address deployer);

    /// `coins` in ascending order, two or three.
    function createPair(Plan memory plan) private {
        StablePool pool = make(plan);
        address[] memory coins = plan.coins;
        address third = coins.length == 3 ? coins[2] : address(0);
        latest = address(pool);
        stableSwapPairInfo[coins[0]][coins[1]][third] = Info(latest, coins[0], coins[1], third, address(pool.token()));
        emit NewStableSwapPair(latest, coins[0], coins[1], third, address(pool.token()));
    }

    /// The factory has no asset types of meta pools.
    function deploy(Plan memory plan, uint8[] memory types) external {
        if (plan.kind == Kind.Pancake) return createPair(plan);
        latest = address(make(plan));
        (coinsOf[latest], get_base_pool[latest]) = (plan.coins, plan.base);
        if (address(plan.base) != address(0))
            emit MetaPoolDeployed(plan.coins[0], address(plan.base), plan.A, plan.fee, msg.sender);
        else {
            typesOf[latest] = types;
            emit PlainPoolDeployed(plan.coins, plan.A, plan.fee, msg.sender);
        }
    }

    function get_coins(address pool) external view returns (address[] memory) {
        return coinsOf[pool];
    }

    function get_pool_asset_types(address pool) external view returns (uint8[] memory) {
        return typesOf[pool];
    }
}

/// The factory of 2021 (`isRegistry` is false), or a registry, which adds pools later. Their lists have a fixed size.
contract OldFactory is PoolMaker {
    bool private immutable isRegistry;
    mapping(address => address[]) private coinsOf;
    mapping(address => StablePool) private bases;
    address public latest;

    event PlainPoolDeployed(address[4] coins, uint256 A, uint256 fee, address deployer);
    event MetaPoolDeployed(address coin, address base_pool, uint256 A, uint256 fee, address deployer);
    event PoolAdded(address indexed pool, bytes rate_method_id);

    constructor(bool isRegistry_) {
        isRegistry = isRegistry_;
    }

    function deploy(Plan memory plan, uint8[] memory) external {
        latest = address(make(plan));
        if (isRegistry) return;
        (coinsOf[latest], bases[latest]) = (plan.coins, plan.base);
        address[4] memory coins;
        for (uint256 k; k < plan.coins.length; k++) coins[k] = plan.coins[k];
        if (address(plan.base) == address(0)) emit PlainPoolDeployed(coins, plan.A, plan.fee, msg.sender);
        else emit MetaPoolDeployed(coins[0], address(plan.base), plan.A, plan.fee, msg.sender);
    }

    function add_pool(StablePool pool) external {
        for (uint256 k; k < pool.N_COINS(); k++) coinsOf[address(pool)].push(pool.coins(k));
        emit PoolAdded(address(pool), "");
    }

    function get_base_pool(address pool) external view returns (StablePool) {
        require(!isRegistry);
        return bases[pool];
    }

    function get_lp_token(address pool) external view returns (address) {
        require(isRegistry);
        return coinsOf[pool].length == 0 ? address(0) : address(StablePool(pool).token());
    }

    function get_coins(address pool) external view {
        uint256[] memory list = new uint256[](isRegistry ? 8 : 4);
        for (uint256 k; k < coinsOf[pool].length; k++) list[k] = uint160(coinsOf[pool][k]);
        answer(list);
    }

    function get_decimals(address pool) external view {
        uint256[] memory list = new uint256[](isRegistry ? 8 : 4);
        for (uint256 k; k < coinsOf[pool].length; k++)
            if (k == 0 || address(bases[pool]) == address(0)) list[k] = placesOf(coinsOf[pool][k]);
        answer(list);
    }

    function get_rates(address pool) external view {
        require(isRegistry);
        uint256[] memory list = new uint256[](8);
        for (uint256 k; k < coinsOf[pool].length; k++) list[k] = 1e18;
        answer(list);
    }

    /// Answers with a list of a fixed size.
    function answer(uint256[] memory list) private pure {
        assembly {
            return(add(list, 32), mul(mload(list), 32))
        }
    }
}

/// Owns the tokens and LP tokens, and calls any contract.
contract Trader {
    function approve(Token token, address spender) external {
        token.approve(spender, type(uint256).max);
    }

    function run(address to, bytes calldata data) external {
        pay(to, 0, data);
    }

    function pay(address to, uint256 value, bytes calldata data) public {
        (bool ok, bytes memory answer) = to.call{value: value}(data);
        require(ok, string(answer));
    }

    receive() external payable {}
}
