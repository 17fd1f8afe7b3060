"""Another program, in another language, that takes part by the protocol: two numbers and a session.

Reads commands from stdin, one a line, and answers each with a line.
"""

import sys
import zlib

import psycopg

url, app, graph = sys.argv[1:4]
signed = 2**31
key = (zlib.crc32(app.encode()) - signed, zlib.crc32(graph.encode()) - signed)

with psycopg.connect(url, autocommit=True, application_name="report.py") as session:

    def ask(function):
        sql = f"select {function}(%s::int, %s::int)"
        return session.execute(sql, key).fetchone()[0]

    print("ready", *key, flush=True)
    for command in map(str.strip, sys.stdin):
        if command == "try":
            print("taken" if ask("pg_try_advisory_lock") else "held", flush=True)
        elif command == "release":
            print("released" if ask("pg_advisory_unlock") else "not ours", flush=True)
