"""Tokenizers of other libraries, read into a table of exact bytes. Imported only when asked for.

In: a tokenizer object. Out: a `TokenTable`, from which `Vocabulary` is made. No library is imported
here: an object is told by what it holds, and its own decoder says what its tokens mean, never its
class name.

**The bytes of a token** are what it adds to the decoded text of the tokens before it, when there
are some: `decode([..., x, t]) == decode([..., x]) + bytes(t)`, with bytes in place of U+FFFD where
the text stops inside a code point. Generation continues a prompt, so there always are some.
Consequences:

- *Byte-level BPE* (GPT-2, Llama 3, Qwen, DeepSeek): each character of a token's spelling is a byte,
  by GPT-2's table. A spelling with another character in it is plain UTF-8, as the decoder has it.
  That includes added tokens: one spelled `é` is byte E9 alone to the decoder, so it is here.
- *SentencePiece* (BPE or Unigram; Llama 2, Mistral, Gemma): U+2581 is a space, `<0xNN>` is that
  byte if the decoder has a byte fallback. Llama 2 and Mistral drop one space at the very start of a
  decoded text, the counterpart of the one they put before a prompt; a token keeps its space here.
  So `decode(ids)` of a reply cut out of its context may lack the first space that the mask saw;
  `Vocabulary.decode` keeps it.
- *WordPiece* (BERT): `##ing` is `ing`, and any other piece is a space and the piece, because its
  decoder joins words with spaces; with `cleanup` the decoder's contractions apply (" ." is ".",
  " n't" is "n't"). The very first token of a text has no space (and keeps its `##`). A lower-casing
  tokenizer has no tokens with capitals, so a grammar that needs them cannot be spelled.

**Never text**: what `decode(..., skip_special_tokens=True)` drops (added tokens marked special,
control pieces), end tokens, the unknown token (it stands for anything), ids that no token has,
unused pieces, and added tokens that the tokenizer uses as padding, separator or the like. Added
tokens that are *not* special are text: `<tool_call>` of Qwen 3, the 6,406 of Gemma 3; where the
tokenizer looks for one in normalized text, what the normalizer leaves of it, as the decoder has it
(` <tool>` for one added to Llama 2's, `<tool>` for a `<Tool>` where all is lower case). To take one
out, name it:

    specials = {**v.special_tokens, "<tool_call>": 151657}
    Vocabulary(v.token_bytes, v.eos_token_ids, specials, v.vocab_size)

Refused with a `VocabularyError`: decoders that are not concatenation (CTC, `BPEDecoder` and its
`</w>`), no decoder at all (tokens would be joined with spaces in their encoded spelling), custom
Python decoders, a SentencePiece model with a denormalizer, slow tokenizers that hold neither a
SentencePiece model nor a tiktoken encoding.

Reading order: `table.py`, `end_tokens.py`, `decoders.py`, `tokenizers.py`, `sentencepiece.py`,
`tiktoken.py`, `mistral_common.py`, `transformers.py`.
"""
