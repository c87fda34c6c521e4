class Tabia < Formula
  desc "Lets any UCI chess engine play from ChessBase opening books"
  homepage "https://docs.rs/tabia"
  url "@BASE@/tabia-@VERSION@-source.tar.gz"
  version "@VERSION@"
  sha256 "@SHA256:tabia-VERSION-source.tar.gz@"
  license "GPL-3.0-or-later"

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    (man1).mkpath
    system bin/"tabia", "man", "--dir", man1
    generate_completions_from_executable(bin/"tabia", "completions")
    pkgshare.install "books"
  end

  test do
    assert_match "uciok", pipe_output("#{bin}/tabia", "uci\nquit\n", 0)
  end
end
