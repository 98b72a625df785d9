"""Names of those who want more than a name: each tries to leave its comment, string or element."""

CONSTRUCTOR = """
#ifndef P
#define P
#include <stdio.h>
__attribute__((constructor)) static void p(void) { fclose(fopen("PWNED", "w")); }
#endif
"""

HOSTILE = [
    "arm\nsystem('touch PWNED');\n%",
    f"x*\\\n/{CONSTRUCTOR}/\\\n*",
    f"x*/{CONSTRUCTOR}/*",
    f"x*??/\n/{CONSTRUCTOR}/??/\n*",
    "x*\r/ int y; /\r*", "x*\v/ int y; /*", "*\0/ int y; /*", "*\u2028/ int y;",
    'x"""\nopen("PWNED", "w")\n"""', "x\\", '"', '""', '\\"""', 'x\\"', "\r\nimport os\r\n",
    "arm\u2028system('touch PWNED');", "arm\x0csystem('touch PWNED');", "arm\x85system(1);",
    "x\n%{\nsystem(1)\n%}", "%{", "#{", "...", "x}\\input{/etc/passwd}{", "\\begin{align*}",
    "\n\\end{document}", "^^M\\input x", "$x$ & ~ # _ ^", "\u202e/* x */\u2066", "</script><b>",
]

LEGAL = ["$x$", "</script>", "*/ int y; /*", "back\\", "\\begin{align*}", "%{", "x*/", "/*",
         "trigraph??/", '"""', 'quote"', "%}", "'", "$(x)", "${x}", "a;b|c&d", "{0}", "%s%n",
         "[bold]"]
"""Legal names of the same kind."""

PIECES = ["*/", "/*", "*", "/", "//", "\\", "\n", "\r", "??/", "??", "\\\n", '"""', "'''", '"', "'",
          "%", "%{", "%}", "#", "#{", "...", "$", "$$", "\\end{document}", "\\input{x}", "{", "}",
          "^^M", "^^5c", "\x00", "\x0c", "\x1a", "\x85", "\u2028", "\u202e", "\ud800", "é", "手",
          " ", "system('touch PWNED');", "__import__('os')", "\n#include <x>\n", "int y;",
          "</script>"]
"""What texts of random attacks are put together from."""
