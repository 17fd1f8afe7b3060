"""Another program, in another language, that writes into a LangGraph thread by itself.

Reads commands from stdin, one a line, and answers each with a line: `stored`, or the SQLSTATE and the message.
"""

import sys

import psycopg

url, thread = sys.argv[1:3]
insert = "insert into checkpoints values (%s, '', %s, null, null, '{}', '{}')"

with psycopg.connect(url, autocommit=True, application_name="report.py") as session:
    print("ready", flush=True)
    for command in map(str.split, sys.stdin):
        try:
            if command[0] == "enter":
                fence, graph = command[1:]
                session.execute(
                    "select sole_writer.enter_thread('public', %s, %s, %s, 'report.py')",
                    (thread, int(fence), graph),
                )
                # As digits: a number of this size does not fit into a float.
                session.execute("select set_config('sole_writer.fence', %s, false)", (fence,))
                print("entered", flush=True)
            else:
                session.execute(insert, (thread, command[1]))
                print("stored", flush=True)
        except psycopg.Error as error:
            print(error.sqlstate, error.diag.message_primary, flush=True)
