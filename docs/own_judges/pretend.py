"""A provider in OpenAI's form that answers at random: a judge's prompt, budget and run can be tried for nothing.

It answers what stands as `criterion: ID` in what it is asked, as in the shipped prompts; where a prompt of your own
writes its criteria in another way, start it with their ids: python pretend.py answers coverage clarity
"""

import json
import random
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = 8123


class Pretend(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open, as a provider's do

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        draw = random.Random(asked)  # the same question has the same answer
        said = "\n".join(message["content"] for message in json.loads(asked)["messages"])
        criteria = re.findall(r"^criterion: (\S+)$", said, re.MULTILINE) or sys.argv[1:]
        winners = {one: draw.choice(("first", "second")) for one in criteria}
        judgments = [{"criterion": one, "rationale": "at random", "winner": winner} for one, winner in winners.items()]
        message = {"role": "assistant", "content": json.dumps({"judgments": judgments})}
        read, written = len(asked) // 4, 100
        reply = {
            "id": "pretend", "object": "chat.completion", "created": 0, "model": "pretend",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
        }  # fmt: skip
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", PORT), Pretend).serve_forever()
