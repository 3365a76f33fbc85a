"""Which result belongs to which call, and that every page sees it the same way."""

from hypothesis import given
from hypothesis import strategies as st

from stores_app.session.pairing import REACH, Place, ToolFacts, pair_calls

IDS = st.sampled_from("abc")
MESSAGES: st.SearchStrategy[list[tuple[list[str], str | None]]] = st.lists(
    st.one_of(
        st.tuples(st.lists(IDS, max_size=3), st.none()),
        st.tuples(st.just([]), IDS),
        st.tuples(st.just([]), st.none()),
    ),
    max_size=40,
)


def transcript(shapes: list[tuple[list[str], str | None]], stretch: int = 1) -> list[ToolFacts]:
    return [ToolFacts(seq * stretch, calls, answers) for seq, (calls, answers) in enumerate(shapes, 1)]


def test_the_first_result_after_a_call_answers_it() -> None:
    pairing = pair_calls(transcript([(["a", "b"], None), ([], "b"), ([], "a"), ([], "a")]))
    assert pairing.result_of == {Place(1, 1): 2, Place(1, 0): 3}
    assert pairing.late == {4}


def test_a_result_before_its_call_stands_alone() -> None:
    pairing = pair_calls(transcript([([], "a"), (["a"], None)]))
    assert not pairing.result_of
    assert not pairing.late


def test_a_call_with_the_same_id_takes_over() -> None:
    pairing = pair_calls(transcript([(["a"], None), (["a"], None), ([], "a")]))
    assert pairing.result_of == {Place(2, 0): 3}


def test_the_last_of_two_calls_with_one_id_in_a_message_is_answered() -> None:
    assert pair_calls(transcript([(["a", "a"], None), ([], "a")])).result_of == {Place(1, 1): 2}


def test_what_is_out_of_reach_is_not_paired() -> None:
    near = [ToolFacts(1, ["a"]), ToolFacts(1 + REACH, (), "a")]
    far = [ToolFacts(1, ["a"]), ToolFacts(2 + REACH, (), "a")]
    assert pair_calls(near).result_of
    assert not pair_calls(far).result_of


@given(MESSAGES)
def test_pairs_obey_the_rule(shapes: list[tuple[list[str], str | None]]) -> None:
    messages = transcript(shapes)
    pairing = pair_calls(messages)
    by_seq = {message.seq: message for message in messages}
    assert {seq: place for place, seq in pairing.result_of.items()} == pairing.call_of
    for place, seq in pairing.result_of.items():
        call_id = by_seq[place.seq].call_ids[place.call]
        assert by_seq[seq].answers == call_id
        assert place.seq < seq
        for between in messages:
            if place.seq < between.seq < seq:
                assert between.answers != call_id
                assert call_id not in between.call_ids


@given(MESSAGES, st.integers(1, 90), st.integers(1, 40), st.integers(1, 40))
def test_every_window_decides_as_the_whole_does(
    shapes: list[tuple[list[str], str | None]], stretch: int, first: int, length: int
) -> None:
    messages = transcript(shapes, stretch)
    whole = pair_calls(messages)
    start, end = first * stretch, (first + length) * stretch
    near = pair_calls(message for message in messages if start - REACH <= message.seq <= end + REACH)
    for message in messages:
        if start <= message.seq <= end:
            assert near.call_of.get(message.seq) == whole.call_of.get(message.seq)
            for call in range(len(message.call_ids)):
                place = Place(message.seq, call)
                assert near.result_of.get(place) == whole.result_of.get(place)
