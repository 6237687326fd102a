#!/bin/sh
# A judge that is a program: an item a line in, an answer a line out, with the item's id. command = "./judge.sh"
while IFS= read -r item; do
    id=$(printf '%s' "$item" | sed 's/^{"id": "\([0-9a-f]*\)".*/\1/')
    said=$(printf '%s' "$item" | grep -o '{"id": "[^"]*", "label"' | sed 's/{"id": \("[^"]*"\).*/{"criterion": \1, "winner": "first"}/' | paste -s -d, -)
    printf '{"id": "%s", "judgments": [%s]}\n' "$id" "$said"
done
