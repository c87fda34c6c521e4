//! Gives the Windows program its icon and version. Nothing to do elsewhere.

fn main() {
    println!("cargo::rerun-if-changed=release/tabia.ico");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("windows") {
        return;
    }
    let mut resource = winresource::WindowsResource::new();
    resource
        .set_icon("release/tabia.ico")
        .set("ProductName", "Tabia")
        .set(
            "FileDescription",
            "Tabia: any UCI engine plays from ChessBase books",
        )
        .set("LegalCopyright", "GPL-3.0-or-later")
        .set("CompanyName", "The authors of Tabia")
        .set("InternalName", "tabia")
        .set("OriginalFilename", "tabia.exe");
    // Without a resource compiler the program lacks its picture, no more.
    if let Err(error) = resource.compile() {
        println!("cargo::warning=no icon and version resource: {error}");
    }
}
