"""The hook of SQLAlchemy, on SQLite."""
import contextlib
import gc

import kit
import sqlalchemy
import sqlalchemy.orm
from kit import KEY
from sqlalchemy.pool import StaticPool
from venturi import sql, trace


@contextlib.contextmanager
def engine(**more):
    made = sqlalchemy.create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}, **more)
    with made.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE t (a INTEGER PRIMARY KEY, secret TEXT)"))
    try:
        yield made
    finally:
        made.dispose()


def run(made, statement, **params):
    with made.begin() as connection:
        return connection.execute(sqlalchemy.text(statement), params)


def test_statements_are_spans():
    with engine() as made, kit.told() as events:
        sql.add_tracing(sqlalchemy, made, "db")
        run(made, "SELECT 1")
        profiler = trace.init(KEY)
        with trace.Trace("around"):
            run(made, "INSERT INTO t (a, secret) VALUES (:a, :s)", a=1, s="hunter2")
            assert profiler.get_id() == kit.Node(events[0]).id
        trace.clean()
        run(made, "SELECT 1")
    outer, node = kit.nodes(events)
    assert (node.name, node.parent, node.end) == ("db", outer.id, {})
    assert list(node.begin["db"]) == ["statement"] and node.begin["db"]["statement"].startswith("INSERT INTO t")
    assert "hunter2" not in str(events)


def test_parameters_and_results_when_asked_for():
    with engine() as made, kit.told() as events:
        sql.add_tracing(sqlalchemy, made, "sql", hide_result=False, hide_params=False)
        trace.init(KEY)
        run(made, "INSERT INTO t (a, secret) VALUES (:a, :s)", a=1, s="hunter2")
    node, = kit.nodes(events)
    assert "hunter2" in str(node.begin["db"]["params"]) and node.end == {"db": {"result": "1 rows"}}


def test_errors():
    with engine() as made, kit.told() as events:
        sql.add_tracing(sqlalchemy, made, "db")
        trace.init(KEY)
        with trace.Trace("around"):
            for statement in ("SELECT * FROM nowhere", "INSERT INTO t (a) VALUES (1)", "INSERT INTO t (a) VALUES (1)"):
                try:
                    run(made, statement)
                except sqlalchemy.exc.DBAPIError:
                    pass
            with trace.Trace("next"):
                pass
        trace.clean()
    assert kit.shape(events) == [("around", [("db", []), ("db", []), ("db", []), ("next", [])])]
    ends = [node.end for node in kit.nodes(events)[1:4]]
    assert ends[0]["etype"] == "sqlite3.OperationalError" and ends[0]["message"] == "no such table: nowhere"
    assert ends[0]["db"] == {"original_exception": "no such table: nowhere", "chained_exception": ""}
    assert ends[1] == {} and ends[2]["etype"] == "sqlite3.IntegrityError"


def test_an_error_that_is_no_statement_ends_no_span():
    made = sqlalchemy.create_engine("sqlite:////nowhere/at/all/file")
    with kit.told() as events:
        sql.add_tracing(sqlalchemy, made, "db")
        profiler = trace.init(KEY)
        with trace.Trace("around"):
            around = profiler.get_id()
            try:
                with made.connect():
                    pass
            except sqlalchemy.exc.OperationalError:
                pass
            assert profiler.get_id() == around
        trace.clean()
    made.dispose()
    assert kit.shape(events) == [("around", [])]


def test_disable_and_enable():
    with engine() as made, kit.told() as events:
        sql.disable()
        sql.add_tracing(sqlalchemy, made, "never")
        sql.enable()
        sql.add_tracing(sqlalchemy, made, "db")
        trace.init(KEY)
        sql.disable()
        run(made, "SELECT 1")
        assert events == []
        sql.enable()
        run(made, "SELECT 1")
    assert kit.shape(events) == [("db", [])]


def test_sessions():
    with engine() as made, kit.told() as events:
        make = sqlalchemy.orm.sessionmaker(bind=made)
        trace.init(KEY)
        for _ in range(3):
            with sql.wrap_session(sqlalchemy, make()) as session:
                session.execute(sqlalchemy.text("SELECT 2")).all()
    assert kit.shape(events) == [("db", [])] * 3


def test_traced_more_than_once():
    """By whatever is there to do it: a statement stays one span, under the first name."""
    with engine() as made, kit.told() as events:
        sql.add_tracing(sqlalchemy, made, "first")
        sql.add_tracing(sqlalchemy, made, "second", hide_result=False)
        trace.init(KEY)
        run(made, "SELECT 1")
        make = sqlalchemy.orm.sessionmaker(bind=made)
        for _ in range(2):
            with sql.wrap_session(sqlalchemy, make()) as session:
                session.execute(sqlalchemy.text("SELECT 2")).all()
        with made.connect() as connection:
            for _ in range(2):
                with sql.wrap_session(sqlalchemy, sqlalchemy.orm.Session(bind=connection)) as session:
                    session.execute(sqlalchemy.text("SELECT 3")).all()
        try:
            run(made, "SELECT * FROM nowhere")
        except sqlalchemy.exc.OperationalError:
            pass
    assert kit.shape(events) == [("first", [])] * 6
    assert kit.nodes(events)[-1].end["etype"] == "sqlite3.OperationalError"


def test_sessions_while_disabled():
    with engine() as made, kit.told() as events:
        make = sqlalchemy.orm.sessionmaker(bind=made)
        trace.init(KEY)
        for switch in (sql.disable, sql.enable):
            switch()
            with sql.wrap_session(sqlalchemy, make()) as session:
                session.execute(sqlalchemy.text("SELECT 2")).all()
    assert kit.shape(events) == [("db", [])]


def test_interrupted():
    """In the driver, and before the driver has the statement."""
    def interrupt(*args):
        raise KeyboardInterrupt
    for event in ("do_execute", "before_cursor_execute"):
        with engine() as made, kit.told() as events:
            sql.add_tracing(sqlalchemy, made, "db")
            sql.add_tracing(sqlalchemy, made, "db")
            sqlalchemy.event.listen(made, event, interrupt)
            trace.init(KEY)
            try:
                run(made, "SELECT 1")
            except KeyboardInterrupt:
                pass
            else:
                raise AssertionError(event)
            gc.collect()
            trace.clean()
        node, = kit.nodes(events)
        assert event != "do_execute" or node.end["etype"] == "KeyboardInterrupt"


def test_many_at_once():
    with engine() as made, kit.told() as events:
        sql.add_tracing(sqlalchemy, made, "db")
        trace.init(KEY)
        with made.begin() as connection:
            connection.execute(sqlalchemy.text("INSERT INTO t (a) VALUES (:a)"), [{"a": number} for number in range(10)])
            rows = connection.execute(sqlalchemy.text("SELECT a FROM t"))
            inner = [connection.execute(sqlalchemy.text("SELECT 1")).scalar() for _ in rows]
    assert len(inner) == 10 and kit.shape(events) == [("db", [])] * 12
