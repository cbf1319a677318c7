"""The example of the C library, compiled as its users compile: by pkg-config, against what is installed."""

import unittest

from installed import ROOT, Installed, output


class Library(Installed):
    def test_example_compiles_against_the_installed_library(self):
        found = output(["pkg-config", "--define-variable=prefix=" + str(self.prefix), "--cflags", "--libs", "foretrain"],
                       env=self.environment("PKG_CONFIG_PATH", "pkgconfig"))
        program = str(self.prefix / "step_time")
        output(["cc", "-Wall", "-Wextra", "-Werror", ROOT / "examples/library/step_time.c", *found.split(), "-o", program])
        said = output([program], env=self.environment("LD_LIBRARY_PATH", ""))
        self.assertRegex(said, r"step 0\.119 s, decided by position 3's(?s:.)*142046 iterations")

    def environment(self, name, folder):
        library = next(self.prefix.glob("lib*/**/libforetrain.so")).parent
        return {"PATH": "/usr/bin:/bin", name: str(library / folder)}


if __name__ == "__main__":
    unittest.main()
