from __future__ import annotations

from dflash_desktop.services.machine_watch import MachineChange, MachineWatch, network_addresses


class Machine:
    """A machine whose clocks and network the test sets."""

    def __init__(self) -> None:
        self.steady = 100.0
        self.wall = 1_000_000.0
        self.network = frozenset({"192.168.0.7"})
        self.watch = MachineWatch(
            steady=lambda: self.steady, wall=lambda: self.wall, addresses=lambda: self.network
        )

    def pass_time(self, seconds: float, *, asleep: float = 0.0) -> MachineChange | None:
        self.steady += seconds
        self.wall += seconds + asleep
        return self.watch.look()


def test_nothing_changes_while_time_passes_as_usual() -> None:
    machine = Machine()
    assert [machine.pass_time(1.0) for _ in range(20)] == [None] * 20


def test_a_wall_clock_that_ran_ahead_means_that_the_machine_slept() -> None:
    machine = Machine()
    assert machine.pass_time(1.0, asleep=3600) is MachineChange.WOKE
    assert machine.pass_time(1.0) is None


def test_a_look_that_comes_far_too_late_means_it_too() -> None:
    assert Machine().pass_time(3600) is MachineChange.WOKE


def test_a_clock_that_is_set_back_or_a_little_forward_means_nothing() -> None:
    machine = Machine()
    assert machine.pass_time(1.0, asleep=-7200) is None
    assert machine.pass_time(1.0, asleep=2.0) is None


def test_a_new_address_is_a_new_network_and_a_lost_one_is_not() -> None:
    machine = Machine()
    machine.network = frozenset()
    assert machine.pass_time(6.0) is None
    machine.network = frozenset({"10.0.0.3"})
    assert machine.pass_time(6.0) is MachineChange.NETWORK
    assert machine.pass_time(6.0) is None


def test_the_machines_own_loop_is_no_network() -> None:
    assert "127.0.0.1" not in network_addresses()
