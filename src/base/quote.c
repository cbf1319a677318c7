#include "base/quote.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

static bool is_plain(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:@%+,";
    return *text != '\0' && text[strspn(text, plain)] == '\0';
}

static void add_word(struct text *quoted, const char *text)
{
    if (is_plain(text)) {
        text_add(quoted, text);
        return;
    }
    text_add(quoted, "'");
    for (;;) {
        size_t length = strcspn(text, "'");
        text_add_n(quoted, text, length);
        text += length;
        if (*text == '\0')
            break;
        text_add(quoted, "'\\''");
        text++;
    }
    text_add(quoted, "'");
}

char *quote_word(struct arena *arena, const char *text)
{
    const char *const word[] = {text, NULL};
    return quote_words(arena, word);
}

char *quote_words(struct arena *arena, const char *const *word)
{
    struct text quoted = {0};
    for (size_t i = 0; word[i]; i++) {
        if (i > 0)
            text_add(&quoted, " ");
        add_word(&quoted, word[i]);
    }
    char *copy = arena_copy(arena, quoted.data ? quoted.data : "");
    text_free(&quoted);
    return copy;
}
