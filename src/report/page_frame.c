#include "report/page_frame.h"

#include "foretrain.h"
#include "report/html.h"

void page_open(struct text *out, const char *title)
{
    text_add(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "style-src 'unsafe-inline'; img-src data:\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<link rel=\"icon\" href=\"data:,\">\n"
                  "<meta name=\"generator\" content=\"foretrain " FT_VERSION "\">\n<title>");
    html_add(out, title);
    text_add(out, "</title>\n<style>\n");
    page_style(out);
    text_add(out, "</style>\n</head>\n<body>\n<main>\n");
}

void page_close(struct text *out)
{
    text_add(out, "<footer><p>Written by foretrain " FT_VERSION
                  ". This page is one file: it loads nothing and runs nothing.</p></footer>\n"
                  "</main>\n</body>\n</html>\n");
}
